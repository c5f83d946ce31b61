#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# report --totals: sums of parts of the jobs add up to those of all jobs.

load ../common

# 400 jobs of 7 users in 3 months on 3 kinds of GPUs, some without energy.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  awk 'BEGIN {
    srand(3)
    split("a100 v100 t4 unheard", gpu)
    print "JobID|User|Account|State|ElapsedRaw|Start|NNodes|NCPUS|ConsumedEnergyRaw|AllocTRES"
    for (i = 1; i <= 400; i++)
      printf "%d|%s|lab|COMPLETED|%d|2024-0%d-11T00:00:00|1|8|%s|mem=%dG,gres/gpu:%s=1,gres/gpu=1\n",
        i, i % 50 ? "u" i % 7 : "", 1 + 1e5 * rand(), 1 + i % 3,
        i % 3 ? "" : int(1e9 * rand()), 1 + i % 9, gpu[1 + i % 4]
  }' >sacct.txt
}

# adds_up N OUTPUT... -- ARG...: the report of the totals of N shards is that of
# all jobs
adds_up() {
  local n=$1 i by=$2
  shift 2
  rm -f totals-*.csv
  for ((i = 1; i <= n; i++)); do
    "$DLEST" report sacct.txt -q --by "$by" --core-power 3 --shard "$i/$n" \
      --totals "totals-$i.csv" || return
  done
  for format in text csv json; do
    "$DLEST" report sacct.txt -q --by "$by" --core-power 3 -f $format "$@" \
      >all || return
    "$DLEST" report totals-*.csv -q -f $format "$@" >sum || return
    if [ $format = json ]; then # each shard has warned of its own jobs
      for x in all sum; do jq -S 'del(.warnings)' $x >$x.json; done
      mv all.json all
      mv sum.json sum
    fi
    # of totals there are no jobs, and the period only by month
    sed -i -e 's/^Each job: --all\. //' -e '1s/^\([0-9]* jobs\), 20.*/\1/' all
    sed -i '1s/^\([0-9]* jobs\), 20.*/\1/' sum
    diff all sum || return
  done
}

@test 'the report of all jobs, digit by digit' {
  for n in 1 2 7; do
    adds_up "$n" user,month
    adds_up "$n" month --country FR --pue 1.3 --price 0.2EUR
    adds_up "$n" user,account,partition
  done
  adds_up 500 user
  jq -e '[.constants[].of] | index("memory") and length > 4' \
    <("$DLEST" report totals-*.csv -f json)
}

@test 'the sums are those of the rows' {
  "$DLEST" report sacct.txt -q --by user --totals totals.csv
  "$DLEST" report sacct.txt -q --by job -f csv >jobs.csv
  python3 - <<'END'
import csv, math
jobs = list(csv.DictReader(open("jobs.csv")))
for g in csv.DictReader(open("totals.csv")):
    if g["totals"] != "group":
        continue
    mine = [j for j in jobs if j["user"] == g["user"]]
    assert int(g["jobs"]) == len(mine) > 0
    total = math.fsum(float(j["energy_j"] or 0) for j in mine)
    assert float(g["energy_j"]) == total, (g, total)
    assert abs(float(g["energy_j_rest"])) < 1e-16 * total + 1e-30
    total = math.fsum(float(j["duration_s"]) for j in mine)
    assert float(g["duration_s"]) == total
END
}

@test 'totals of totals; fewer keys' {
  for i in 1 2 3; do
    "$DLEST" report sacct.txt -q --by user,month --shard $i/3 --totals $i.csv
  done
  gives 0 '' report 1.csv 2.csv --totals 12.csv
  gives 0 '' report 12.csv 3.csv --by month -f csv
  mv out sum
  gives 0 '' report sacct.txt -q --by month -f csv
  diff out sum
}

@test 'what does not add up' {
  "$DLEST" report sacct.txt -q --by user --totals user.csv
  "$DLEST" report sacct.txt -q --totals month.csv
  refuses 3 "dlest: month.csv: $(message totals_other_groups user.csv)" \
    report user.csv month.csv
  refuses 3 "dlest: user.csv: $(message totals_not_by month month)" \
    report user.csv --by month
  refuses 3 "dlest: sacct.txt: $(message totals_none)" report user.csv sacct.txt
  refuses 2 "dlest: $(message totals_no_jobs)" \
    report sacct.txt --by job --totals x.csv
  refuses 2 "dlest: $(message totals_no_jobs)" report user.csv --by job
  refuses 2 "dlest: $(message has_no_effect gpu 'on totals')" \
    report user.csv --gpu a100
  refuses 2 "dlest: $(message does_not_go_with totals country)" \
    report sacct.txt --country FR --totals x.csv
  refuses 2 "dlest: $(message also_read user.csv)" \
    report user.csv --totals user.csv
  sed '2s/^group,\([^,]*\),[0-9]*/group,\1,999/' user.csv >bad.csv
  refuses 3 "dlest: bad.csv:2: $(message column_invalid_number jobs 999)" \
    report bad.csv
  [ ! -e x.csv ]
}

@test 'totals that are there twice, missing, or of other powers' {
  for i in 1 2 3; do
    "$DLEST" report sacct.txt -q --by user --shard $i/3 --totals t$i.csv
  done
  gives 0 '' report t1.csv t2.csv t3.csv -f json
  jobs=$(jq .total.jobs out)
  [ "$jobs" -eq 400 ]
  cp t2.csv copy.csv
  gives 0 "dlest: warning: copy.csv: $(message counts_twice t2.csv)
dlest: warning: $(message shards_are_missing 2 3 1)" \
    report t1.csv t2.csv t3.csv copy.csv -f json
  refuses 3 "dlest: warning: $(message shards_are_missing 1 3 2)
dlest: $(message warning_with_strict_nothing 1 '')" \
    report t1.csv t3.csv --strict
  # A byte order mark and columns in another order change nothing.
  printf '\xef\xbb\xbf' | cat - t1.csv >bom.csv
  python3 - <<'END'
import csv
rows = [r[::-1] for r in csv.reader(open("t2.csv"))]
csv.writer(open("back.csv", "w")).writerows(rows)
END
  "$DLEST" report t1.csv t2.csv t3.csv -f csv >want.csv
  gives 0 '' report bom.csv back.csv t3.csv -f csv
  cmp want.csv out
  # A sum of shards knows which it has.
  gives 0 '' report t1.csv t2.csv --totals t12.csv
  gives 0 "dlest: warning: $(message shards_are_missing 1 3 3)" \
    report t12.csv -f json
  gives 0 '' report t12.csv t3.csv -f json
  [ "$(jq .total.jobs out)" -eq 400 ]
  gives 0 "dlest: warning: $(message shards_are_missing 2 3 2)" \
    report t1.csv t12.csv t3.csv -f json
  # Two halves of two logs are four files and complete.
  sed '2,$s/^/9/' sacct.txt >other.txt
  for f in sacct other; do
    for i in 1 2; do
      "$DLEST" report $f.txt -q --by user --shard $i/2 --totals $f$i.csv
    done
  done
  gives 0 '' report sacct1.csv sacct2.csv other1.csv other2.csv -f json
  [ "$(jq .total.jobs out)" -eq 800 ]
  # Shards that were estimated at different powers.
  for i in 1 2; do
    "$DLEST" report sacct.txt -q --by user --shard $i/2 --totals p$i.csv \
      --node-power $((i * 300))
  done
  try report p1.csv p2.csv -f json
  [ "$status" -eq 0 ]
  grep -q "^dlest: warning: p2.csv:[0-9]*: $(message constant_is_here_and \
    node_power_w 600 300)$" err
}
