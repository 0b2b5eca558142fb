# The launcher: a small shell beside the host, fed by `sh -s`. It starts lanes, and when its input ends, because the host
# closed it or died, it ends everything that carries the host's mark.
#
# Arguments: the mark (the beginning of an assignment), the directory to remove in the end, perl or "", the code and the
# system call number for become-subreaper.pl, and the beginnings of the names of control groups.
mark=$1 runtime=$2 perl=$3 subreaper=$4 prctl=$5 orphans=
shift 5

# A program that a shell starts in the background ignores Ctrl-C, and every program below it would too.
if env --default-signal=INT,QUIT -i true; then
  run_clean() { exec env --default-signal=INT,QUIT -i "$@"; }
else
  run_clean() { exec env -i "$@"; }
fi

# start_lane CODE REPORT [CGROUP_FILE...]: a shell that reads its code from one pipe and reports to another.
start_lane() {
  code=$1 report=$2
  shift 2
  (
    for group; do echo 0 >"$group" || exit 1; done
    exec <"$code" 9>"$report" >/dev/null 2>&1
    set -- "PATH=$PATH" "${mark}lane"
    # A lane becomes the parent of whoever loses theirs, as the launcher is.
    [ -z "$perl" ] || set -- "$@" "$perl" -e "$subreaper" "$prctl"
    run_clean "$@" /bin/sh -s
  ) &
}

# on_host_death CODE: shell code to run when the host is gone.
on_host_death() { orphans="$orphans$1;"; }

# Lanes carry the mark, and programs in sandboxes die with their lane; the others are found by the mark, or as the
# launcher's children once their lane is gone.
ending() {
  trap '' TERM HUP INT PIPE
  quiet=0 rounds=0
  while [ $quiet -lt 3 ] && [ $rounds -lt 200 ]; do
    quiet=$((quiet + 1)) rounds=$((rounds + 1))
    for pid in $(grep -Fls "$mark" /proc/[0-9]*/environ | tr -dc '0-9\n') $(cat /proc/$$/task/$$/children); do
      kill -KILL "$pid" && quiet=0
    done
    sleep 0.02
  done
  rm -rf "$runtime"
  eval "$orphans"
  tries=0
  for groups; do
    for group in "$groups"*; do
      until rmdir "$group" || [ ! -d "$group" ] || [ $tries -ge 50 ]; do
        tries=$((tries + 1))
        sleep 0.02
      done
    done
  done
  kill -KILL 0
}
trap 'ending "$@"' EXIT
trap : HUP INT TERM PIPE
