#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Estimates trainings and compares each with a budget: the script of the action, for
# other systems of continuous integration too. Needs dlest and jq.
#
# Environment, as the inputs of action.yml:
#   DLEST_JOBS        trainings, one per line, as arguments of dlest predict
#   DLEST_JOBS_FILE   a file of such lines
#   DLEST_BUDGET_KWH  budget of each
#   DLEST_OPTIONS     options for all of them
# The report goes to GITHUB_STEP_SUMMARY, results to GITHUB_OUTPUT, or both to
# standard output. Exit status: 0 all within the budget, 1 one or more over it,
# 2 a training could not be estimated, or wrong usage.
set -euo pipefail

exec 3>&1 4>&1
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || exec 3>>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT:-}" ] || exec 4>>"$GITHUB_OUTPUT"
budget=${DLEST_BUDGET_KWH:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A message on the page of the run, whose line ends and signs are coded.
error() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/}
  echo "::error title=Energy budget::${text//$'\n'/%0A}"
}
wrong() {
  error "$1"
  exit 2
}
for program in dlest jq; do
  command -v $program >/dev/null || wrong "$program is not on PATH"
done
[ -n "$budget" ] || wrong 'no budget: set budget-kwh'

# Words of a line, with quotes as in a shell, but nothing else of it: lines may
# come from a pull request.
words() {
  printf '%s\n' "$1" | xargs -r printf '%s\0' 2>/dev/null
}

# Cells of a table hold no line end and no bar.
cell() {
  printf '%s' "$1" | tr '\n' ' ' | sed 's/|/\\|/g; s/</\&lt;/g'
}

jobs=$work/jobs
printf '%s\n' "${DLEST_JOBS:-}" >"$jobs"
if [ -n "${DLEST_JOBS_FILE:-}" ]; then
  [ -r "$DLEST_JOBS_FILE" ] || wrong "$DLEST_JOBS_FILE: cannot be read"
  cat -- "$DLEST_JOBS_FILE" >>"$jobs"
fi
sed -i 's/^[[:space:]]*//; /^#/d; /^$/d' "$jobs"
[ -s "$jobs" ] || wrong 'no trainings: set jobs or file'

over=0 bad=0
{
  echo '| training | energy | 90 % interval | CO2e | |'
  echo '|---|---:|---:|---:|---|'
} >"$work/table"
while IFS= read -r job; do
  status=0
  mapfile -d '' -t arguments < <(words "$job" && words "${DLEST_OPTIONS:-}")
  # A quote that is not closed gives no words.
  [ "${#arguments[@]}" -gt 0 ] || arguments=("$job")
  dlest predict "${arguments[@]}" --budget-kwh="$budget" --format=json \
    >"$work/answer" 2>"$work/said" </dev/null || status=$?
  said=$(sed '/^dlest: \(note\|warning\): /d; s/^dlest: //' "$work/said")
  case $status in
    0) verdict='within the budget' ;;
    4)
      over=$((over + 1)) verdict='**over the budget**'
      error "$job: $said"
      ;;
    *)
      bad=$((bad + 1))
      error "$job: ${said:-dlest ended with status $status}"
      echo "| $(cell "$job") | | | | **$(cell "$said")** |" >>"$work/table"
      continue
      ;;
  esac
  # The first method is the recommended one.
  jq -r --arg verdict "$verdict" --arg job "$(cell "$job")" '
    def digits: if . == null then "" elif . >= 100 then round | tostring
      else (. * 100 | round / 100) | tostring end;
    .recommended as $m | (.estimates[] | select(.method == $m)) |
    "| \($job) | \(.energy_kwh | digits) kWh | " +
    (if .low_j then "\(.low_j / 3.6e6 | digits) to \(.high_j / 3.6e6 | digits) kWh"
     else "" end) +
    " | \(if .co2e_g then "\(.co2e_g / 1e3 | digits) kg" else "" end) | \($verdict) |"
    ' "$work/answer" >>"$work/table"
  jq '.recommended as $m | .estimates[] | select(.method == $m).energy_kwh' \
    "$work/answer" >>"$work/energies"
  {
    echo "<details><summary>$(cell "$job")</summary>"
    echo
    dlest predict "${arguments[@]}" --budget-kwh="$budget" --quiet \
      --format=markdown </dev/null || [ $? -eq 4 ]
    echo
    echo '</details>'
    echo
  } >>"$work/details" 2>/dev/null
done <"$jobs"

{
  if [ $((over + bad)) -eq 0 ]; then
    echo "## Energy: within the budget of $budget kWh"
  else
    echo "## Energy: $over over the budget of $budget kWh, $bad not estimated"
  fi
  echo
  cat "$work/table"
  echo
  ! [ -f "$work/details" ] || cat "$work/details"
  echo "Estimated by $(dlest --version | head -n 1)."
} >&3
touch "$work/energies"
{
  echo "energy-kwh=$(jq -s 'add // 0' "$work/energies")"
  echo "over-budget=$over"
} >&4
[ "$bad" -eq 0 ] || exit 2
[ "$over" -eq 0 ] || exit 1
