import {
  type Dialect,
  Host,
  type JournalEvent,
  memoryArtifacts,
  memoryJournal,
  type Reply,
  type Processes,
  type Sandbox,
  use,
  type Workspace
} from "@haft/core"
import { haft } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { type Fixture, scriptedApprover, type ScriptedApprover, temporaryWorkspace } from "@haft/testing"
import type { TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import { ptyTools } from "../src/index.ts"
import type { terminalsConfig } from "../src/terminals/terminals.ts"

export interface TerminalHostOptions {
  readonly dialect?: Dialect
  readonly config?: z.input<typeof terminalsConfig>
  readonly files?: Readonly<Record<string, Fixture>>
  readonly approver?: ScriptedApprover
  readonly sandbox?: Layer.Layer<Sandbox, never, Workspace | Processes>
}

/** The output of haft's terminal tools. */
export interface Shown {
  readonly terminal_id: string
  readonly state: "running" | "ended"
  readonly exit_code: number | null
  readonly signal: string | null
  readonly output: string
  readonly cursor: number
  readonly truncated: boolean
  readonly omitted_bytes: number
}

export interface TerminalHost {
  readonly call: (tool: string, args: unknown) => Effect.Effect<Reply>
  /** Opens a terminal; fails if that is refused. */
  readonly open: (args: Readonly<Record<string, unknown>>) => Effect.Effect<Shown & Record<string, unknown>>
  /** Opens a terminal and waits for the end of its program. */
  readonly run: TerminalHost["open"]
  /** Writes to a terminal; fails if that is refused. */
  readonly write: (
    id: string,
    args?: Readonly<Record<string, unknown>>
  ) => Effect.Effect<Shown & Record<string, unknown>>
  /** Reads on until the output matches; a test that waits for what never comes runs into its time-out. */
  readonly until: (id: string, pattern: RegExp, already?: string) => Effect.Effect<string>
  /** Waits for a text on the screen. */
  readonly untilScreen: (id: string, pattern: RegExp) => Effect.Effect<string>
  readonly workspace: TemporaryWorkspace
  readonly events: ReadonlyArray<JournalEvent>
  readonly artifacts: ReadonlyMap<string, Uint8Array>
  readonly questions: ScriptedApprover["questions"]
}

/** Runs a conversation with a host, which is closed afterwards. */
export const withTerminals = <A, E>(
  conversation: (host: TerminalHost) => Effect.Effect<A, E>,
  options: TerminalHostOptions = {}
): Effect.Effect<A, unknown> => {
  const workspace = temporaryWorkspace(options.files)
  const events: Array<JournalEvent> = []
  const artifacts = new Map<string, Uint8Array>()
  const approver = options.approver ?? scriptedApprover()
  const machine = Layer.merge(nodeWorkspace({ root: workspace.root, state: workspace.state }), nodeProcesses)
  const services = Layer.mergeAll(
    options.sandbox ?? noSandbox(),
    memoryJournal(events),
    memoryArtifacts(artifacts),
    approver.layer
  ).pipe(Layer.provideMerge(machine))
  const host = Host.layer({ dialect: options.dialect ?? haft, plugins: [use(ptyTools, options.config ?? {})] })
  return Effect.gen(function* () {
    const { call } = yield* Host
    return yield* conversation({
      call,
      ...wordsFor(call),
      workspace,
      events,
      artifacts,
      questions: approver.questions
    })
  }).pipe(
    Effect.provide(Layer.provide(host, services)),
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => workspace.remove()))
  )
}

const wordsFor = (
  call: TerminalHost["call"]
): Pick<TerminalHost, "open" | "run" | "write" | "until" | "untilScreen"> => {
  const resultOf = (reply: Reply) => {
    if (!reply.ok) throw new Error(reply.text)
    return (reply.wire as { result: Shown & Record<string, unknown> }).result
  }
  const write: TerminalHost["write"] = (id, args = {}) =>
    Effect.map(call("write_terminal", { terminal_id: id, ...args }), resultOf)
  return {
    open: (args) => Effect.map(call("open_terminal", args), resultOf),
    run: (args) => Effect.map(call("open_terminal", { yield_time_ms: 30_000, quiet_ms: 30_000, ...args }), resultOf),
    write,
    until: Effect.fnUntraced(function* (id: string, pattern: RegExp, already = "") {
      let seen = already
      let isOver = false
      while (!pattern.test(seen)) {
        if (isOver) throw new Error(`ended after ${JSON.stringify(seen)}`)
        const { output, state } = yield* write(id, { yield_time_ms: 5000, quiet_ms: 50 })
        seen += output
        isOver = state === "ended"
      }
      return seen
    }),
    untilScreen: Effect.fnUntraced(function* (id: string, pattern: RegExp) {
      for (;;) {
        const { output, state } = yield* write(id, { view: "screen", quiet_ms: 50 })
        if (pattern.test(output)) return output
        if (state === "ended") throw new Error(`ended with ${JSON.stringify(output)}`)
      }
    })
  }
}

/** The whole output of a toolrouter session, until its program has ended. */
export const execToEnd = Effect.fnUntraced(function* (
  call: TerminalHost["call"],
  args: { readonly session_id: string; readonly cmd: string; readonly workdir?: string | null }
) {
  let { output, truncated, exit_code } = (yield* call("exec_command", args)).wire as PlainWire
  while (exit_code === null) {
    const next = (yield* call("write_stdin", { session_id: args.session_id, chars: "" })).wire as PlainWire
    output += next.output
    truncated ||= next.truncated
    exit_code = next.exit_code
  }
  return { output, truncated, exit_code }
})

interface PlainWire {
  readonly output: string
  readonly truncated: boolean
  readonly exit_code: number | null
}
