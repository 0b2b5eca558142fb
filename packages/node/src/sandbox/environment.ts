import type { SandboxRequest } from "@haft/core"

/** What a command may see of the host's environment. Everything else stays outside. */
const passedOn = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL"]

/** So that nothing waits for a key, and nobody has to read escape sequences. */
const quiet = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", NO_COLOR: "1", TERM: "dumb" }

/** The environment of a command: an allowlist, manners for programs that nobody watches, and what the call adds. */
export const environmentFor = (
  added: Readonly<Record<string, string>>,
  request: SandboxRequest,
  options: { readonly names?: ReadonlyArray<string>; readonly home: string; readonly temporary: string }
): Record<string, string> => {
  const names = [...passedOn, ...(options.names ?? [])]
  const found = names.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    ...Object.fromEntries(found),
    HOME: options.home,
    TMPDIR: options.temporary,
    ...(request.terminal === true ? {} : quiet),
    ...added
  }
}
