#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions and headers that not every C library has are used in one place: in
# base/portable.c, which has what replaces them, or in the sensor that needs them.
# TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"

# What is used, as an extended regular expression, and the files that may.
rules='
signalfd|timerfd_create|timerfd_settime|prctl|pipe2|dup3 base/portable.c
posix_spawnp?|omp_[a-z_]+|dlopen|dlmopen base/portable.c
fopencookie|__fpurge|__fsetlocking base/portable.c
epoll_create1?|eventfd|inotify_init1?|pidfd_open|memfd_create -
qsort_r|reallocarray|strerror_r|strverscmp|versionsort -
memrchr|rawmemchr|strchrnul|mempcpy|stpecpy|strndupa|strdupa -
argp_[a-z_]+|error_at_line|obstack_[a-z_]+ -
canonicalize_file_name|secure_getenv|get_current_dir_name -
[a-z]+_unlocked|exp10|pow10|sincos|hsearch_r|hcreate_r|twalk_r|tdestroy -
get_nprocs|sched_getaffinity|gettid|getauxval|pthread_[a-z_]+_np -
renameat2|copy_file_range|fallocate|statx|execvpe|mallinfo2?|mallopt -
syscall sensors/perf_event.c
'

n=0
# ok DESCRIPTION OFFENDERS
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then
    echo "ok $n - $1"
  else
    echo "not ok $n - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

# Lines that match $1 in other files than src/$2; comments and texts are no code.
beyond() {
  grep -rnE "(^|[^A-Za-z0-9_.>\"])($1)$3" src --include='*.[ch]' |
    grep -vE "^src/($2):|^[^:]*:[0-9]+: *(/\*|\*|//)" || true
}

echo "1..$(($(printf '%s' "$rules" | grep -c .) + 3))"
while read -r names files; do
  [ -n "$names" ] || continue
  ok "$names: $files" "$(beyond "$names" "$files" ' *\(')"
done <<EOT
$rules
EOT
ok 'headers of Linux' \
  "$(beyond '# *include *<(linux/.*|sys/(prctl|signalfd|timerfd|epoll|eventfd|inotify|syscall|sysinfo|auxv)\.h)>' \
    'base/portable.c|sensors/perf_event.c' '')"
ok 'headers of the GNU C library' \
  "$(beyond '# *include *<(argp|error|execinfo|obstack|stdio_ext|omp|malloc|gnu/.*)(\.h)?>' \
    'base/portable.c' '')"
ok 'objects and constants of the GNU C library and Linux' \
  "$(beyond 'program_invocation_(short_)?name|RTLD_NEXT|CLOCK_BOOTTIME' \
    'base/portable.c|record/recorder.c' '')"
