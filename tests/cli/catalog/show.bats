#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest show: a descriptor with its sources.

load ../common

@test "a GPU: values of the vendor's data sheet, each with unit and source" {
  gives 0 '' show gpu a100 --format json
  check '.id == "a100-sxm4-40gb" and .kind == "accelerator"'
  check '.values | all(.field and .source)'
  # NVIDIA A100 data sheet: 400 W, 19.5 TFLOP/s, 40 GB, 1555 GB/s
  check '.values[] | select(.field == "tdp_w") | .value == 400 and .unit == "W"'
  check '.values[] | select(.field == "peak_fp32_tflops").value == 19.5'
  check '.values[] | select(.field == "memory_gb").value == 40'
  check '.values[] | select(.field == "bandwidth_gb_s").value == 1555'
}

@test "an architecture: how it scales, and its inputs" {
  gives 0 '' show arch resnet-50 --format json
  check '.id == "resnet50" and .scaling == "area"'
  check '.inputs[] | select(.image_px == 224) | .macs_g > 4 and .macs_g < 4.2'
}

@test "the six networks of del Rey et al. at their measured sizes" {
  # GMACs: half of the published GFLOPs
  while read -r arch px macs; do
    try show arch "$arch" --format json
    near ".inputs[] | select(.image_px == $px).macs_g" "$macs"
  done <<END
mobilenetv2_050 128 0.06403/2
nasnetmobile 128 0.37165/2
resnet50 128 2.52438/2
xception 128 2.95840/2
END
  try show arch vgg16 --format json
  check '.inputs[] | select(.image_px == 128).macs_g | . - 10.02877 / 2 |
    fabs < 2e-5'
}

@test "an architecture at another input, with another head" {
  gives 0 '' show arch resnet50 --image-px 448 --classes 10 --format json
  # Parameters of ResNet-50 with ten classes: 23,528,522
  check '.values[] | select(.field == "params_m").value |
    . > 23.52 and . < 23.54'
  check '.values[] | select(.field == "head_params_m").value |
    . - 0.02049 | fabs < 1e-12'
  check '.values[] | select(.field == "classes").value == 10'
  # From 288 px, which is nearer than 224: 6.8 GMACs, 0.002048 of them the head
  near '.values[] | select(.field == "macs_g").value' \
    '(6.8 - 0.002048) * (448 / 288) * (448 / 288) + 10 * 2048e-9'
  check '.values[] | select(.field == "macs_g").note | startswith("derived: sc")'
  gives 0 '' show arch resnet50 --image-px 448
  grep -q 'scaled with the area of the input' out
  gives 0 '' show arch vit_base_patch16_siglip_224 --image-px 1024
  grep -q 'scaled with the tokens and their square' out
}

@test "an architecture that does not scale, one whose head is not known" {
  gives 0 "dlest: warning: $(message weights_are_for_one mixer_b16_224)" show arch mixer_b16_224 --image-px 448
  gives 0 "dlest: warning: $(message classifier_is_not_known squeezenet1_0)" show arch squeezenet1_0 --classes 10
  refuses 2 "dlest: $(message has_no_effect classes "here: it is for architectures")" show gpu a100 --classes 10
  invalid show image-px=0 arch resnet50
  misused show "$(message invalid_value classes 1.5 \
    "$(message expected_whole_range 1 1e+09)")" arch resnet50 --classes 1.5
}

@test "the shape of a head that was counted, of layers and launches" {
  # torchvision: 54 convolutions and dense layers; Keras: 175 layers in front
  # of its head
  gives 0 '' show arch resnet50 --format json
  check '.values[] | select(.field == "layers").value == 54'
  check '.values[] | select(.field == "launches").value == 175'
  check '.values[] | select(.field == "head_inputs").value == 2048'
}

@test "a data set, a grid" {
  gives 0 '' show dataset imagenet --format json
  check '.values[] | select(.field == "train_samples").value == 1281167'
  gives 0 '' show grid es --format json
  check '.name == "Spain"'
}

@test "text and CSV" {
  gives 0 '' show gpu v100
  grep -q '^tdp_w  *[0-9]* *W  *\[1\] ' out
  grep -q '^form  *[a-z]' out
  grep -q '^\[1\] NVIDIA ' out
  awk 'length($0) > 120 { exit 1 }' out
  gives 0 '' show gpu v100 --format csv
  [ "$(head -1 out)" = field,value,unit,source,note ]
}

@test "an own file" {
  my_gpu "$(entry 123)"
  gives 0 '' show gpu my.xml --format json
  check '.values == [{"field": "tdp_w", "value": 123, "unit": "W",
    "source": "measured at home", "note": null}]'
}

@test "elementwise traffic of the block that a network repeats" {
  # Elements that norms (2), activation functions (2), sums (3) and copies (2)
  # read and write for each of their map, by output of the layers.
  # Basic block and bottleneck: He et al. 2016. ViT: 197 tokens, heads of 64.
  while read -r arch ratio; do
    try show arch "$arch" --format json
    check ".values[] | select(.field == \"elementwise_ratio\").value - $ratio |
      fabs <= 0.0005"
  done <<END
resnet18 (2+2+2+3+2)/(1+1)
resnet50 ((2+2)/4+(2+2)/4+2+3+2)/(1/4+1/4+1)
vit_base_patch16_224 (2+6+4*197/64+2+3+2+8+3)/(3+197/64+1+1+4+1)
END
}

@test "depthwise layers of the block that a network repeats" {
  # Three quarters of outputs by activation x weights of a kernel (3 x 3 and 5 x 5,
  # 15 in the mean; 7 x 7; 3 x 3) x activations / MACs. Howard et al. 2019: 4 wide,
  # depthwise, 1; Liu et al. 2022; the layers of Sandler et al. 2018 are counted.
  while read -r arch outputs weights; do
    try show arch "$arch" --format json
    check "([.values[] | select(.field == \"depthwise_share\").value][0]) as \$d |
      (.inputs[0] | .75 * $outputs * $weights * .acts_m / .macs_g / 1000) as \$e |
      (\$d / \$e - 1 | fabs) <= $([ $arch = mobilenetv2_100 ] && echo .05 || echo .001)"
  done <<END
mobilenetv3_large_100 4/(4+4+1) 15
convnext_tiny 1/(1+4+1) 49
mobilenetv2_100 6/(6+6+1) 9
END
  try show arch resnet50 --format json
  check '[.values[] | select(.field == "depthwise_share").value] == [0]'
}

@test "what a terminal acts upon is not printed" {
  my_gpu '<entry id="my" name="a&#9;b&#x9b;31mc"><value name="tdp_w" source="s">5</value></entry>'
  gives 0 '' show gpu my.xml
  ! grep -q "$(printf '\302\233')" out || false
}

@test "what it refuses" {
  misused show "$(message missing_argument 'gpu|arch|dataset|grid|site|node|model' show)"
  misused show "$(message missing_argument_write NAME show \
    'gpu|arch|dataset|grid|site|node|model NAME')" gpu
  misused show "$(message unexpected_argument x show)" gpu a100 x
  refuses 2 "dlest: $(message cannot_show_use_gpu cpu)" \
    show cpu x
  refuses 3 "dlest: $(message unknown_nearest_or_export arch resnet51 \
    "$(meant resnet51q resnet50)" archs)" show arch resnet51
  refuses 3 "dlest: $(message unknown_nearest_see_list grid Spian \
    "$(meant Spain)" grids)" show grid Spian
}
