#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest show: a descriptor with its sources.

load common

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

@test "paper A's six at their measured sizes" {
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

@test "a data set, a grid" {
  gives 0 '' show dataset imagenet --format json
  check '.values[] | select(.field == "train_samples").value == 1281167'
  gives 0 '' show grid es --format json
  check '.name == "Spain"'
}

@test "text and CSV" {
  gives 0 '' show gpu v100
  grep -q '^tdp_w  *[0-9]* *W ' out
  gives 0 '' show gpu v100 --format csv
  [ "$(head -1 out)" = field,value,unit,source,note ]
}

@test "an own file" {
  my_gpu "$(entry 123)"
  gives 0 '' show gpu my.xml --format json
  check '.values == [{"field": "tdp_w", "value": 123, "unit": "W",
    "source": "measured at home", "note": null}]'
}

@test "what a terminal acts upon is not printed" {
  my_gpu '<entry id="my" name="a&#9;b&#x9b;31mc"><value name="tdp_w" source="s">5</value></entry>'
  gives 0 '' show gpu my.xml
  ! grep -q "$(printf '\302\233')" out
}

@test "what it refuses" {
  misused show 'expected a kind and a name: show gpu a100'
  misused show 'expected a kind and a name: show gpu a100' gpu
  misused show 'expected a kind and a name: show gpu a100' gpu a100 x
  refuses 2 "dlest: cannot show 'cpu'; use gpu, arch, dataset or grid" \
    show cpu x
  refuses 3 "dlest: unknown arch 'resnet51'; nearest: 'resnet50', 'resnet51q', \
'resnet18' (see 'dlest list archs')" show arch resnet51
  refuses 3 "dlest: unknown grid 'Spian'; nearest: 'Spain', 'Sudan', 'China' \
(see 'dlest list grids')" show grid Spian
}
