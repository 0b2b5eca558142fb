# Sets limits and becomes the command. Arguments: file size (512-byte blocks), open files, CPU seconds, address space (KiB,
# or ""), processes; then the command.
# shellcheck disable=SC3045 # bash and zsh have these limits
{
  ulimit -c 0
  ulimit -f "$1"
  ulimit -n "$2"
  ulimit -t "$3"
  [ -z "$4" ] || ulimit -v "$4"
  ulimit -u "$5"
} 2>/dev/null
shift 5
exec "$@"
