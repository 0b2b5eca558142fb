import { singleLine, toolError } from "@haft/core"
import { commandTouches, startProcess, stopProcess } from "@haft/exec-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { outputPathOf } from "../task-output.ts"
import { worded } from "../worded.ts"

export const taskStop = claudeCode.tool({
  name: "TaskStop",
  operation: "stop-process",
  description: "Stop a background task with all that it started. Its output stays readable.",
  input: z.strictObject({
    task_id: z.string().optional().describe("The task, as Bash or Monitor named it"),
    shell_id: z.string().optional().describe("The same under an older name")
  }),
  output: z.object({
    message: z.string(),
    task_id: z.string(),
    task_type: z.string(),
    command: z.string().optional()
  }),
  risk: "safe_write",
  // To end what one has started needs no consent.
  asks: false,
  timeout: "60 seconds",
  execute: Effect.fnUntraced(function* ({ task_id, shell_id }) {
    const id = task_id ?? shell_id
    if (id === undefined) return yield* worded("invalid_params", "Missing required parameter: task_id")
    const { managed, wasRunning } = yield* stopProcess(id, { maxBytes: 0 }).pipe(
      Effect.mapError((error) =>
        error.code === "session_not_found" ? worded(error.code, `No task found with ID: ${singleLine(id)}`) : error
      )
    )
    if (!wasRunning) return yield* worded("session_ended", `Task ${id} is not running (status: completed)`)
    const { command } = managed
    return { message: `Successfully stopped task: ${id} (${command})`, task_id: id, task_type: "local_bash", command }
  }),
  render: (answer) => JSON.stringify(answer)
})

export const monitor = claudeCode.tool({
  name: "Monitor",
  operation: "start-process",
  description:
    "Start a command in the background whose lines of output are events to watch, and end it after timeout_ms. Read " +
    "shows what it printed, TaskStop ends it sooner.",
  input: z.strictObject({
    description: z.string().describe("What is watched, for whoever is asked about it"),
    timeout_ms: z.number().describe("The command is ended after this time"),
    command: z.string().optional().describe("Command line for bash"),
    ws: z
      .strictObject({ url: z.string(), protocols: z.array(z.string()).optional() })
      .optional()
      .describe("Refused: only commands are watched")
  }),
  output: z.object({ taskId: z.string(), timeoutMs: z.number(), persistent: z.boolean().optional() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ command }) => commandTouches(command === undefined ? {} : { runs: command, reads: ["."] }),
  execute: Effect.fnUntraced(function* ({ command, timeout_ms, ws }) {
    if (ws !== undefined || command === undefined) {
      return yield* toolError("invalid_params", "parameter 'ws': web sockets are not watched here", {
        suggestion: "Give a command that prints what happens."
      })
    }
    const lifetimeMs = Math.max(1, Math.floor(timeout_ms))
    const { id } = yield* startProcess({ command, directory: ".", env: {}, network: false, waitMs: 0, lifetimeMs })
    return { taskId: id, timeoutMs: lifetimeMs }
  }),
  render: ({ taskId, timeoutMs }) =>
    `Monitor started with ID: ${taskId} (timeout ${timeoutMs}ms). Output is being written to: ${outputPathOf(taskId)}`
})
