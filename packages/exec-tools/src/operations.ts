// Operations of this package, unaware of any contract: for tools in a dialect of your own. A plugin that has such tools
// has `execServices` in its layer, and each of them says in its touches what it runs.
export { execServices } from "./exec-services.ts"
export { CommandMemory, lastCommand, type PastCommand } from "./last-command/last-command.ts"
export { changeFields, reportChanges } from "./run-command/changes-report.ts"
export { codeAsCommand, type CodeRequest, runCode } from "./run-code/run-code.ts"
export { shell, type ShellOutcome, type ShellRequest, shellTouches } from "./shell/shell.ts"
export {
  type CommandOutcome,
  type CommandRequest,
  commandTouches,
  runCommand,
  shellWords
} from "./run-command/run-command.ts"
export { listProcesses } from "./list-processes/list-processes.ts"
export type { ManagedProcess } from "./managed-processes/managed-process.ts"
export { ManagedProcesses } from "./managed-processes/managed-processes.ts"
export type { OutputRead, OutputRequest } from "./managed-processes/output-reading.ts"
export { readOutput } from "./read-output/read-output.ts"
export { type ProcessRequest, startProcess } from "./start-process/start-process.ts"
export { ExecSettings } from "./settings.ts"
export { Shells } from "./shell/shells.ts"
export { stopProcess } from "./stop-process/stop-process.ts"
export { type Condition, type WaitEnd, waitFor } from "./wait-for/wait-for.ts"
