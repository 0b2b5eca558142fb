# Removes every container that a filter finds, and again after each pause: one that is being started can be removed only
# once it is there, and an engine may refuse meanwhile. Arguments: the engine's program, the filter, pauses in seconds.
engine=$1 filter=$2 tries=0
shift 2
for pause; do
  sleep "$pause"
  while all=$("$engine" ps --all --quiet --filter "$filter") && [ -n "$all" ] && [ "$tries" -lt 50 ]; do
    # shellcheck disable=SC2086 # one word an identifier
    "$engine" rm --force $all || sleep 0.1
    tries=$((tries + 1))
  done
done
