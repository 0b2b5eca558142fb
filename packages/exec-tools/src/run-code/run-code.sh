# Runs code as a file in a directory of its own, so that the code has its standard input to itself and errors can show the
# line they are about. Its variables begin with haft_, because those of the call are in the environment already.
#
# Arguments: names of the interpreter, the file's name, the code's own arguments. The code comes as standard input.
haft_names=$1 haft_file=$2
shift 2
for haft_name in $haft_names; do
  command -v "$haft_name" >/dev/null && break
  haft_name=
done
[ -n "$haft_name" ] || {
  echo "haft: no interpreter" >&2
  exit 127
}
# Where there is no sandbox, the next code clears away what code that was killed has left.
for haft_old in "${TMPDIR:-/tmp}"/haft-code.*; do
  haft_number=${haft_old##*/haft-code.}
  [ ! -d "$haft_old" ] || kill -0 "${haft_number%%.*}" || rm -rf "$haft_old"
done 2>/dev/null
haft_directory=$(mktemp -d "${TMPDIR:-/tmp}/haft-code.$$.XXXXXX") || exit 125
trap 'rm -rf "$haft_directory"' EXIT
trap 'rm -rf "$haft_directory"; trap - EXIT TERM; kill -TERM $$' TERM
cat >"$haft_directory/$haft_file"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
exec 9>&2 2>/dev/null
# In a subshell, or the shell's own remarks on how it ended would go where the code's errors go.
(exec "$haft_name" "$haft_directory/$haft_file" "$@" </dev/null 2>&9 9>&-)
