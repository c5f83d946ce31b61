#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# contrib/action: the script that compares trainings with a budget.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  action=$TOP_SRCDIR/contrib/action
  mkdir bin
  ln -s "$DLEST" bin/dlest
  export PATH=$PWD/bin:$PATH GITHUB_STEP_SUMMARY=$PWD/summary GITHUB_OUTPUT=$PWD/result
  unset DLEST_JOBS DLEST_JOBS_FILE DLEST_BUDGET_KWH DLEST_OPTIONS
}

@test "within the budget: 0, a table, the sum" {
  printf '%s\n' '# two trainings' '' 'resnet50 a100 --epochs 90' >list
  DLEST_JOBS='  --arch resnet50 --gpu "a100" --epochs 9' DLEST_JOBS_FILE=list \
    DLEST_BUDGET_KWH=100 DLEST_OPTIONS='--country FR' \
    run -0 "$action/check-budget.sh"
  [ -z "$output" ]
  [ "$(grep -c '^| .* | within the budget |$' summary)" -eq 2 ]
  grep -q '^## Energy: within the budget of 100 kWh$' summary
  [ "$(grep -c '^- Energy: ' summary)" -eq 2 ]
  "$DLEST" predict --arch resnet50 --gpu a100 --epochs 99 -q -f json >out
  want=$(jq '.recommended as $m | .estimates[] | select(.method == $m).energy_kwh' out)
  awk -F= -v want="$want" '$1 == "energy-kwh" { got = $2 }
    END { exit !(got > 0.99 * want && got < 1.01 * want) }' result
  grep -qx over-budget=0 result
}

@test "over the budget: 1, and an annotation" {
  DLEST_JOBS=$'resnet50 a100 --epochs 9\nresnet50 a100 --epochs 90' \
    DLEST_BUDGET_KWH=5 run -1 "$action/check-budget.sh"
  [[ $output == '::error title=Energy budget::resnet50 a100 --epochs 90: physical'*'over the budget of 5 kWh' ]]
  [ "$(grep -c '| \*\*over the budget\*\* |$' summary)" -eq 1 ]
  grep -qx over-budget=1 result
}

@test "what cannot be estimated: 2, with the message" {
  DLEST_JOBS=$'resnet50 a100\nresnet50 nothing' DLEST_BUDGET_KWH=50 \
    run -2 "$action/check-budget.sh"
  [[ $output == '::error '*"resnet50 nothing: 'nothing' is no "* ]]
  grep -q "nothing.* | \*\*'nothing' is no " summary
  DLEST_JOBS='resnet50 "a100' DLEST_BUDGET_KWH=50 run -2 "$action/check-budget.sh"
  DLEST_JOBS='resnet50 a100' DLEST_BUDGET_KWH=much run -2 "$action/check-budget.sh"
  DLEST_JOBS='# none' DLEST_BUDGET_KWH=50 run -2 "$action/check-budget.sh"
  [[ $output == *'no trainings: set jobs or file' ]]
  DLEST_JOBS='resnet50 a100' run -2 "$action/check-budget.sh"
  [[ $output == *'no budget: set budget-kwh' ]]
}

@test "lines are never run by a shell" {
  # shellcheck disable=SC2016 # on purpose
  DLEST_JOBS='resnet50 a100 $(touch ran) `touch ran`; touch ran | touch ran' \
    DLEST_BUDGET_KWH=50 run -2 "$action/check-budget.sh"
  [ ! -e ran ]
  # a bar and a tag are text in the table
  grep -qF 'touch ran \| touch ran' summary
  DLEST_JOBS=$'resnet50 <b>%0A' DLEST_BUDGET_KWH=50 run -2 "$action/check-budget.sh"
  [[ $output == *'<b>%250A'* ]]
  grep -qF '&lt;b>' summary
}

@test "without the files of GitHub both go to standard output" {
  unset GITHUB_STEP_SUMMARY GITHUB_OUTPUT
  DLEST_JOBS='resnet50 a100' DLEST_BUDGET_KWH=50 run -0 "$action/check-budget.sh"
  [[ $output == '## Energy: within'*over-budget=0 ]]
}

@test "action.yml gives the script each of its variables" {
  python=$(command -v /usr/bin/python3 || command -v python3)
  "$python" -c 'import yaml' 2>/dev/null || skip 'no yaml'
  "$python" - "$action" <<'END'
import re, sys, yaml
with open(sys.argv[1] + "/action.yml") as f:
    action = yaml.safe_load(f)
with open(sys.argv[1] + "/check-budget.sh") as f:
    script = f.read()
[step] = [s for s in action["runs"]["steps"] if s.get("id") == "check"]
assert set(step["env"]) == set(re.findall(r"\$\{(DLEST_[A-Z_]+):-", script))
used = set(re.findall(r"inputs\.([a-z-]+)", str(action["runs"])))
assert used == set(action["inputs"]), used ^ set(action["inputs"])
for name, output in action["outputs"].items():
    assert output["value"] == "${{ steps.check.outputs.%s }}" % name
    assert 'echo "%s=' % name in script
assert action["runs"]["using"] == "composite"
assert all(s["shell"] == "bash" for s in action["runs"]["steps"])
END
}
