# Goes before the program that makes a sandbox behind a terminal. Whoever opens a terminal can't lend descriptors, so this
# opens the files, and removes them before anything else runs. It joins the control groups that hold the limits, too: there
# is no gate at which the host could see to that.
#
# Arguments: the directory of the files; "uid:gid" of the sandbox's user, or ""; bash and perl, or "" for each;
# the control groups' files; "--"; the program with its arguments.
directory=$1 owner=$2 bash=$3 perl=$4
shift 4
while [ "$1" != -- ]; do
  echo 0 >"$1" || exit 125
  shift
done
shift
echo 500 >/proc/self/oom_score_adj
exec 3<"$directory/told" 4<"$directory/filter"
rm -rf "$directory"

# As at every login: a terminal can be opened anew by who works at it.
if [ -n "$owner" ] && [ -t 0 ]; then chown "$owner" /proc/self/fd/0; fi

# Ctrl-C reaches the program that makes the sandbox together with the command inside, and must not end it: whether it ends
# is for the command to say.
if env --default-signal=INT,QUIT true 2>/dev/null; then trap '' INT QUIT; fi

# Whoever opens a terminal hands on the descriptors that the host was started with: a directory among them leads out of
# any sandbox. Not every shell can close those above 9.
beyond=
for path in /proc/self/fd/*; do
  number=${path##*/}
  case $number in
    [0-4]) ;;
    [5-9]) eval "exec $number>&-" ;;
    *) [ ! -e "$path" ] || beyond=yes ;;
  esac
done
[ -n "$beyond" ] || exec "$@"
# shellcheck disable=SC2016 # for bash to expand
[ -z "$bash" ] || exec "$bash" --norc --noprofile -c '
  for path in /proc/self/fd/*; do
    [ "${path##*/}" -le 4 ] || eval "exec ${path##*/}>&-"
  done
  exec "$@"' haft "$@"
# shellcheck disable=SC2016 # for perl to expand
[ -z "$perl" ] || exec "$perl" -e '
  for (glob "/proc/self/fd/*") { open(my $handle, "<&=", $1) and close $handle if m{/(\d+)$} && $1 > 4 }
  exec { $ARGV[0] } @ARGV' -- "$@"
echo 'descriptors of the host can not be closed here: install bash or perl' >&2
exit 125
