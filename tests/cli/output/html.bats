#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --format html: one page with the answer, the tables, the charts and the
# sources, which a browser lays out on a telephone and on a desk.

load ../common

# page ARG...: a page in the file out
page() {
  gives 0 '' "$@" -q --format html
  xmllint --html --noout out 2>found || true
  # HTML 4's parser does not know these elements
  ! grep 'parser error' found | grep -vE 'Tag (main|figure|figcaption|svg|rect|path) inv' || false
}

pages() {
  cp "$DLEST_DATADIR"/data/examples/*.{csv,txt} .
  page predict --arch resnet50 --gpu a100 --country ES
  mv out predict.html
  page predict --arch resnet50 --node xeon-8368-4xa100 --use-gpus 1
  mv out node.html
  page predict --input plan.csv --method physical,tdp
  mv out plan.html
  page compare runs.csv --by gpu --bootstrap 100 --methods physical,tdp
  mv out compare.html
  page recommend --arch resnet50,vgg16 --gpu a100,t4 --dataset cifar10
  mv out recommend.html
  page report sacct.txt --country FR
  mv out jobs.html
  page report sacct.txt --by user
  mv out users.html
  page extract gpu-7.csv
  mv out runs.html
  page fit runs.csv --target gpu_power_w --no-model
  mv out fit.html
  # GPUs of a made driver, as in the tests of record
  local library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  if [ -f "$library/libnvidia-ml.so.1" ]; then
    ! nm -D "$DLEST" | grep -q __asan_init || export ASAN_OPTIONS=detect_leaks=0
    LD_LIBRARY_PATH=$library DLEST_SYSFS=$PWD/sys page record --no-trace \
      --duration 0.5s --interval 100ms --country DE --arch resnet50
    mv out record.html
  fi
}

@test 'pages hold the answer, all methods, settings, parts and sources' {
  pages
  grep -q '<h2>ResNet-50 on 1 x A100' predict.html
  grep -q '<dt>Energy</dt><dd>12 kWh</dd><dd>[0-9.]* to [0-9]* kWh (90 %)' predict.html
  for method in physical pre-epoch pre-power green-algorithms tdp flops; do
    grep -q "<td>$method</td>" predict.html
    grep -q "<div class=\"bar\"><div>$method</div>" predict.html
  done
  grep -q '<dt>batch size</dt><dd>256 (default)</dd>' predict.html
  grep -q '<dt>intensity from</dt><dd>Ember' predict.html
  grep -q '<td>TDP</td>.*<td>NVIDIA A100 Tensor Core GPU data sheet' predict.html
  grep -q '<div class="bar"><div>2 CPUs, load [0-9.]* %, of it the loader</div>' node.html
  grep -q '<div class="bar"><div>ann</div>' users.html
  grep -q '<h2>Runs</h2>' runs.html
  grep -q '<h2>MAPE of runs whose group was held out</h2>' fit.html
  [ ! -e record.html ] || for gpu in 0 1; do
    grep -q "<div class=\"bar\"><div>NVIDIA A100-SXM4-40GB ($gpu)</div>" \
      record.html
  done
  # one page each, that ends
  for file in *.html; do
    [ "$(grep -c '<!DOCTYPE html>' "$file")" -eq 1 ]
    [ "$(tail -n 1 "$file")" = '</html>' ]
  done
}

@test 'bars are as long as the figures say' {
  gives 0 '' predict --arch resnet50 --gpu a100 --set gpu.tdp_w=300 \
    --duration 1h --method tdp,green-algorithms --utilisation 0.5 \
    --set ram_gb=0 -q --format html
  # 300 W against half of it
  grep -A1 'class="bar"><div>tdp</div>' out | grep -q 'width="1000.0"'
  grep 'class="bar"><div>green-algorithms</div>' out | grep -q 'width="500.0"'
}

@test 'texts of the data are escaped' {
  table 'arch,gpu,batch_size,train_samples,epochs,run_id' \
    'resnet50,a100,64,1000,2,"<script>alert(1)</script>&""'"'"'"'
  gives 0 '' predict --input runs.csv --method tdp -q --format html
  ! grep -q '<script' out || false
  grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;' out
  printf '1|u<b>|2024-01-01T00:00:00|2024-01-01T01:00:00|3600|COMPLETED|%s|%s\n' \
    'cpu=8,gres/gpu=1,node=1' 720000 |
    cat <(echo 'JobID|User|Start|End|ElapsedRaw|State|AllocTRES|ConsumedEnergyRaw') - \
      >sacct.txt
  gives 0 '' report sacct.txt --by user -q --format html
  ! grep -q '<b>' out || false
  [ "$(grep -c 'u&lt;b&gt;' out)" -ge 2 ] # in the table and in the chart
}

@test 'layout at 360 and 1280 px, contrast and messages in a browser' {
  browser=$(command -v chromium || command -v chromium-browser) ||
    skip 'no chromium (Debian: chromium)'
  pages
  python3 "$BATS_TEST_DIRNAME/html_page.py" "$browser" ./*.html
}

@test 'the measurement notices a page that is too wide, pale or noisy' {
  browser=$(command -v chromium || command -v chromium-browser) ||
    skip 'no chromium (Debian: chromium)'
  {
    echo '<!DOCTYPE html><html><body><p style="width:900px">wide</p>'
    echo '<p style="color:#aaa">pale</p><p>a</p><p>b</p><p>c</p>'
    echo '<script>console.error("noise")</script></body></html>'
  } >wrong.html
  run python3 "$BATS_TEST_DIRNAME/html_page.py" "$browser" wrong.html
  [ "$status" -eq 1 ]
  [[ $output == *'360 px, light: '*' px wide'* ]]
  [[ $output == *'a text has a contrast of 2.32'* ]]
  [[ $output == *noise* ]]
  [[ $output == *'a script'* ]]
}
