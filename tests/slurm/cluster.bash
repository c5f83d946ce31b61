# SPDX-License-Identifier: GPL-3.0-or-later
# A Slurm cluster of one node in a private folder: munge, MariaDB, slurmdbd,
# slurmctld and slurmd, with their own sockets, ports and configuration.
# Nothing of the machine's own Slurm is read or changed.
#
#   cluster_start FOLDER EPILOG   starts it and sets SLURM_CONF; EPILOG is the
#                                 program that slurmctld runs after each job
#   cluster_stop                  stops what was started, in reverse order
#
# No systemd and no cgroups are needed, so that it runs in a container.

CLUSTER_PROGRAMS=(munged mungekey mariadbd mariadb-install-db mariadb slurmdbd
  slurmctld slurmd sbatch srun sacct sacctmgr sinfo sstat scontrol)

cluster_pids=() # of the daemons, in the order in which they were started

# missing programs, separated by blanks
cluster_missing() {
  local program missing=()
  for program in "${CLUSTER_PROGRAMS[@]}"; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  echo "${missing[*]}"
}

# wait_for SECONDS COMMAND...: until the command succeeds
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

# daemon NAME COMMAND...: starts it; its output goes to NAME.out
daemon() {
  local name=$1
  shift
  "$@" </dev/null >"$cluster/$name.out" 2>&1 &
  cluster_pids+=($!)
}

# free_ports N: N ports of TCP that nothing listens on, separated by blanks
free_ports() {
  python3 - "$1" <<'END'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
END
}

start_munge() {
  mungekey --create --keyfile="$cluster/munge.key"
  daemon munged munged --foreground --force --key-file="$cluster/munge.key" \
    --socket="$cluster/munge.socket" --pid-file="$cluster/munged.pid" \
    --seed-file="$cluster/munged.seed" --log-file="$cluster/munged.log"
  wait_for 10 test -S "$cluster/munge.socket"
}

start_mariadb() {
  mariadb-install-db --no-defaults --user=root --datadir="$cluster/db" \
    --auth-root-authentication-method=normal --skip-test-db \
    >"$cluster/mariadb-install.out" 2>&1
  daemon mariadbd mariadbd --no-defaults --user=root \
    --datadir="$cluster/db" --socket="$cluster/mariadb.socket" \
    --pid-file="$cluster/mariadb.pid" --bind-address=127.0.0.1 \
    --port="$mariadb_port" --innodb-buffer-pool-size=64M \
    --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0
  wait_for 20 sql 'SELECT 1'
  sql "CREATE DATABASE accounting; CREATE USER slurm@127.0.0.1
    IDENTIFIED BY 'slurm'; GRANT ALL ON accounting.* TO slurm@127.0.0.1"
}

sql() {
  mariadb --no-defaults --socket="$cluster/mariadb.socket" --user=root -e "$1"
}

write_configuration() {
  local host epilog=$1
  host=$(hostname -s)
  cat >"$cluster/slurm.conf" <<END
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$slurmctld_port
SlurmdPort=$slurmd_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MinJobAge=600
KillWait=2
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
AcctGatherEnergyType=acct_gather_energy/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$slurmdbd_port
AccountingStoragePass=$cluster/munge.socket
AccountingStorageTRES=gres/gpu,gres/gpu:a100
GresTypes=gpu
EpilogSlurmctld=$epilog
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 Gres=gpu:a100:2 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
  touch "$cluster"/gpu{0,1} # stand for devices: nothing opens them
  echo "NodeName=$host Name=gpu Type=a100 File=$cluster/gpu[0-1]" \
    >"$cluster/gres.conf"
  cat >"$cluster/slurmdbd.conf" <<END
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$slurmdbd_port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
LogFile=$cluster/slurmdbd.log
PidFile=$cluster/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$mariadb_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=accounting
END
  chmod 600 "$cluster/slurmdbd.conf"
}

# node_is STATE: whether the node has it
node_is() {
  [ "$(sinfo -h -o %T)" = "$1" ]
}

cluster_start() {
  local ports
  cluster=$1
  chmod 755 "$cluster" # munged refuses a socket that others cannot reach
  mkdir -p "$cluster"/{state,spool}
  ports=$(free_ports 4)
  read -r mariadb_port slurmdbd_port slurmctld_port slurmd_port <<<"$ports"
  export SLURM_CONF=$cluster/slurm.conf
  write_configuration "$2"
  start_munge && start_mariadb || return
  daemon slurmdbd slurmdbd -D
  wait_for 30 sacctmgr -n show cluster || return
  sacctmgr -i add cluster check >"$cluster/sacctmgr.out" 2>&1
  sacctmgr -i add account lab Cluster=check >>"$cluster/sacctmgr.out" 2>&1
  sacctmgr -i add user "$(id -un)" Account=lab \
    >>"$cluster/sacctmgr.out" 2>&1
  daemon slurmctld slurmctld -D
  wait_for 20 scontrol ping || return
  daemon slurmd slurmd -D
  wait_for 30 node_is idle
}

# Each daemon gets time to end by itself: mariadbd would leave locks.
cluster_stop() {
  local i pid
  [ "${#cluster_pids[@]}" -eq 0 ] || scancel --quiet --me 2>/dev/null || true
  for ((i = ${#cluster_pids[@]} - 1; i >= 0; i--)); do
    pid=${cluster_pids[i]}
    kill "$pid" 2>/dev/null || continue
    wait_for 10 not_running "$pid" || kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  cluster_pids=()
}

not_running() { ! kill -0 "$1"; }

# What the daemons said last, for a failure.
cluster_logs() {
  local log
  for log in "$cluster"/*.log "$cluster"/*.out; do
    [ -s "$log" ] || continue
    echo "# $(basename "$log"):"
    tail -n 8 "$log" | sed 's/^/#   /'
  done
}
