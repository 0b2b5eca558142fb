# Process 1 inside a sandbox of namespaces. When it ends, so does everything else in there. Variables of the command are in
# the environment as HAFT_GIVES_NAME, so that they mean nothing to this script and to what it runs.
#
# Arguments: "gate" or "terminal"; the workspace's path, and as the table of mounts writes it; device:inode that the
# workspace must have, or "", and the program to ask; how many mounts must come from the workspace itself; other file
# systems of the host below the workspace, a line each ("device path"); limits on file size (512-byte blocks), open files,
# CPU seconds, address space (KiB, or ""), processes; names of variables, with blanks between; then the command.
# shellcheck disable=SC3045 # dash, busybox and bash have these limits; of -p and -u one is there
haft_mode=$1 haft_root=$2 haft_point=$3 haft_identity=$4 haft_stat=$5 haft_left=$6 haft_others=$7
haft_files=$8 haft_open=$9
shift 9
haft_cpu=$1 haft_memory=$2 haft_processes=$3 haft_names=$4
shift 4

haft_refuse() {
  echo "$1" >&2
  exit 125
}

# Gives variables their own names back. Some names a shell keeps for itself; `command` sees to it that it goes on.
haft_give() {
  for haft_name in $haft_names; do
    eval "command export $haft_name=\"\$HAFT_GIVES_$haft_name\"; unset HAFT_GIVES_$haft_name"
  done 2>/dev/null
}

# The program that makes a sandbox binds by path and follows links, and a path can lead elsewhere by the time it is used.
if [ -n "$haft_identity" ] && [ -z "$haft_stat" ]; then
  haft_refuse 'this system has no stat program, so the workspace cannot be told from another'
fi
if [ -n "$haft_identity" ] && [ "$("$haft_stat" -L -c %d:%i "$haft_root")" != "$haft_identity" ]; then
  haft_refuse 'the workspace was replaced meanwhile'
fi

# A line of the table of mounts says where the thing itself lies, whatever it is called and wherever it was put. All that
# was to come from the workspace must lie in it, or in another file system that the host has there.
if [ "$haft_left" -gt 0 ]; then
  haft_home=none
  haft_newline='
'
  while read -r _ _ haft_device haft_thing haft_at _; do
    if [ "$haft_home" = none ] && [ "$haft_at" = "$haft_point" ]; then haft_home="$haft_device ${haft_thing%/}/"; fi
    haft_thing="$haft_device $haft_thing"
    case "$haft_newline$haft_others" in *"$haft_newline$haft_thing$haft_newline"*) continue ;; esac
    case "$haft_thing" in "$haft_home"?*) haft_left=$((haft_left - 1)) && continue ;; esac
    haft_rest=$haft_others
    while [ -n "$haft_rest" ]; do
      haft_other=${haft_rest%%"$haft_newline"*}
      haft_rest=${haft_rest#*"$haft_newline"}
      case "$haft_thing" in "${haft_other%/}/"?*) haft_left=$((haft_left - 1)) && break ;; esac
    done
  done </proc/self/mountinfo
  [ "$haft_left" = 0 ] || haft_refuse 'part of the workspace was replaced meanwhile'
fi

# Set inside, where they count for the sandbox alone. The letter of the last one differs from shell to shell.
haft_limit() {
  ulimit -c 0
  ulimit -f "$haft_files"
  ulimit -n "$haft_open"
  ulimit -t "$haft_cpu"
  [ -z "$haft_memory" ] || ulimit -v "$haft_memory"
  { ulimit -p "$haft_processes" || ulimit -u "$haft_processes"; } 2>/dev/null
}

if [ "$haft_mode" = terminal ]; then
  haft_limit 2>/dev/null
  trap : TERM INT HUP QUIT TSTP
  # The command hears Ctrl-C again, which terminal.sh made the program around this one deaf to.
  if /usr/bin/env --default-signal=INT,QUIT true 2>/dev/null; then
    set -- /usr/bin/env --default-signal=INT,QUIT "$@"
  fi
  (haft_give; exec "$@")
  exit $?
fi

# Descriptor 5 and 6 are the line to the host. Nothing of the command runs before the host has seen that everything is
# shut, so a sandbox whose host loses interest on the way, or dies, ends by itself.
exec 9>&2 2>&6
haft_limit
command -v "$1" >/dev/null || {
  echo "missing $1" >&6
  exit 127
}
echo ready >&6
read -r haft_word <&5 && [ "$haft_word" = go ] || exit 125
trap : TERM INT HUP
# In a subshell, or the shell's own remarks would go where the command's go.
(haft_give; exec "$@" 2>&9 5<&- 6>&- 9>&-)
haft_code=$?
set -- /proc/[0-9]*
echo "end $haft_code $(($# - 1))" >&6
exit $haft_code
