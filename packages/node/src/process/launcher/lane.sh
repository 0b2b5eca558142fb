# The beginning of a lane: a shell that runs one program after the other, fed by `sh -s`. Descriptor 9 leads to the host,
# and to write there when it is gone must not end this shell. The programs that it needs itself are arguments of its own,
# which no variable of a command can change.
exec 2>&9
trap : HUP INT TERM PIPE
set -- "$(command -v setsid)" "$(command -v env)"
echo "lane $$" >&9
