# Runs a container behind a terminal. The engine refuses a terminal where there is none, as in a test.
# Arguments: the engine's program, and the arguments of its `run`.
engine=$1
shift
if [ -t 0 ]; then exec "$engine" run -i -t "$@"; fi
exec "$engine" run "$@"
