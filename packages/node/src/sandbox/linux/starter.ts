const listening = "/usr/bin/env --default-signal=INT,QUIT"
const canListen = `${listening} true 2>/dev/null`

/** The descriptors of the line between a sandbox and its host, see `Command.gated`. */
export interface GateDescriptors {
  readonly go: number
  readonly say: number
}

/**
 * Process 1 inside a sandbox, as shell code; its arguments are the command. When it ends, so does everything else
 * in there. It runs the command in a subshell, or the shell's own remarks would go where the command's go. Nothing of
 * the command runs before `check` has found all in its place and the host has seen that everything is shut, so a
 * sandbox whose host loses interest on the way, or dies, ends by itself.
 */
export const starterCode = (check: string, limits: string, { go, say }: GateDescriptors): string => `${check}
exec 9>&2 2>&${say}
${limits}
command -v "$1" >/dev/null || { echo "missing $1" >&${say}; exit 127; }
echo ready >&${say}
read -r word <&${go} && [ "$word" = go ] || exit 125
trap : TERM INT HUP
( exec "$@" 2>&9 ${go}<&- ${say}>&- 9>&- )
code=$?
set -- /proc/[0-9]*
echo "end $code $(($# - 1))" >&${say}
exit $code
`

/** The same for a command behind a terminal, where there is no gate. */
export const terminalStarterCode = (check: string, limits: string): string => `${check}
{ ${limits}
} 2>/dev/null
trap : TERM INT HUP QUIT TSTP
${canListen} && set -- ${listening} "$@"
( exec "$@" )
exit $?
`

/**
 * Shell code that goes before the program that makes a sandbox behind a terminal. Ctrl-C reaches that program together
 * with the command in the sandbox, and must not end it: whether it ends is for the command to say. The command itself
 * listens again, which a shell can't see to and `env` can, where it is new enough.
 */
export const deafToKeys = `${canListen} && trap '' INT QUIT`
