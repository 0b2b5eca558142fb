import { definePlugin } from "@haft/core"

import { haftCloseTerminal } from "./close-terminal/haft.close_terminal.ts"
import { haftListTerminals } from "./list-terminals/haft.list_terminals.ts"
import { haftOpenTerminal } from "./open-terminal/haft.open_terminal.ts"
import { toolrouterExecCommand } from "./open-terminal/toolrouter.exec_command.ts"
import { terminals, terminalsConfig } from "./terminals/terminals.ts"
import { haftWriteTerminal } from "./write-terminal/haft.write_terminal.ts"
import { toolrouterWriteStdin } from "./write-terminal/toolrouter.write_stdin.ts"

/** Terminals that programs can be opened in, typed into and read from. They close with the host. */
export const ptyTools = definePlugin({
  name: "@haft/pty-tools",
  version: "0.0.0",
  config: terminalsConfig,
  tools: [
    haftOpenTerminal,
    haftWriteTerminal,
    haftCloseTerminal,
    haftListTerminals,
    toolrouterExecCommand,
    toolrouterWriteStdin
  ],
  layer: (config) => terminals(config)
})

export { type Terminal, type TerminalState } from "./terminals/terminal.ts"
export { Terminals, terminals, terminalsConfig } from "./terminals/terminals.ts"

export default ptyTools
