# Keeps one shell open for many commands. Descriptor 0 brings lines from the host: one that begins with + is for the shell,
# any other is the process group to interrupt. Descriptor 7 leads back to the host; the shell's own output goes nowhere, and
# each command's to descriptors 9 (standard output) and 8 (standard error).
haft_relay() {
  while IFS= read -r haft_line; do
    case $haft_line in
      +*) printf '%s\n' "${haft_line#+}" ;;
      *) kill -INT "-$haft_line" || kill -INT "$haft_line" ;;
    esac
  done 2>/dev/null
}

# An interactive shell drops the rest of a command that is interrupted and reads on.
if command -v bash >/dev/null; then set -- bash --norc --noprofile -i; else set -- sh -i; fi
# In a session of its own its number is that of a process group, which holds the commands it waits for.
if command -v setsid >/dev/null; then set -- setsid "$@"; fi
haft_relay 7>&- | {
  "$@" 9>&1 8>&2 >/dev/null 2>&1
  printf 'gone %s\000' "$?" >&7
}
