#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest show: a descriptor with its sources.

load ../common

@test "text and CSV" {
  gives 0 '' show gpu v100
  grep -q '^tdp_w  *[0-9]* *W  *\[1\] ' out
  grep -q '^form  *[a-z]' out
  grep -q '^\[1\] NVIDIA ' out
  awk 'length($0) > 120 { exit 1 }' out
  gives 0 '' show gpu v100 --format csv
  [ "$(head -1 out)" = field,value,unit,source,note ]
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
