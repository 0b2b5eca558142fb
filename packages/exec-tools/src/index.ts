import { definePlugin } from "@haft/core"

import { execServices } from "./exec-services.ts"
import { cliagentTerminalLastCommand } from "./last-command/cliagent.terminal_last_command.ts"
import { haftLastCommand } from "./last-command/haft.last_command.ts"
import { haftListProcesses } from "./list-processes/haft.list_processes.ts"
import { haftReadOutput } from "./read-output/haft.read_output.ts"
import { approvalgateRunCode } from "./run-code/approvalgate.run_code.ts"
import { haftRunCode } from "./run-code/haft.run_code.ts"
import { agentbenchRun } from "./run-command/agentbench.run.ts"
import { cliagentRunInTerminal } from "./run-command/cliagent.run_in_terminal.ts"
import { haftRunCommand } from "./run-command/haft.run_command.ts"
import { toolrouterShell } from "./run-command/toolrouter.shell.ts"
import { execConfig } from "./settings.ts"
import { haftShell } from "./shell/haft.shell.ts"
import { haftStartProcess } from "./start-process/haft.start_process.ts"
import { haftStopProcess } from "./stop-process/haft.stop_process.ts"
import { haftWaitFor } from "./wait-for/haft.wait_for.ts"

/** Commands and code in every dialect that has them. */
export const execTools = definePlugin({
  name: "@haft/exec-tools",
  version: "0.0.0",
  config: execConfig,
  tools: [
    haftRunCommand,
    haftRunCode,
    haftLastCommand,
    haftShell,
    haftStartProcess,
    haftListProcesses,
    haftReadOutput,
    haftWaitFor,
    haftStopProcess,
    agentbenchRun,
    toolrouterShell,
    approvalgateRunCode,
    cliagentRunInTerminal,
    cliagentTerminalLastCommand
  ],
  layer: execServices
})

export default execTools
