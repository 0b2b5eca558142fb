# The first program inside a container: gives variables their own names back and becomes the command.
# Arguments: what to say when there is no such program; device:inode that the workspace must have, or "", and its path;
# names of variables; "--"; the command.
haft_missing=$1 haft_identity=$2 haft_root=$3
shift 3
if [ -n "$haft_identity" ]; then
  # An image without stat may have ls, which tells the inode alone. Without both nothing runs.
  haft_found=$(stat -L -c %d:%i "$haft_root" 2>/dev/null) || {
    haft_found=$(ls -Ldi "$haft_root" 2>/dev/null) && haft_found=${haft_found#"${haft_found%%[! ]*}"}
    haft_found=${haft_identity%:*}:${haft_found%% *}
  }
  [ "$haft_found" = "$haft_identity" ] || {
    echo "$haft_missing replaced" >&2
    exit 125
  }
fi
# Some names a shell keeps for itself; `command` sees to it that it goes on.
while [ "$1" != -- ]; do
  eval "command export $1=\"\$HAFT_GIVES_$1\"; unset HAFT_GIVES_$1"
  shift
done 2>/dev/null
shift
command -v "$1" >/dev/null || {
  echo "$haft_missing" >&2
  exit 127
}
exec "$@"
