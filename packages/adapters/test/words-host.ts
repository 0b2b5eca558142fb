import {
  Approver,
  CurrentCall,
  defineDialect,
  definePlugin,
  defineTool,
  Host,
  type JournalEvent,
  memoryJournal,
  memoryWorkspace,
  reportProgress,
  use,
  Workspace
} from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

export const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => ({ ok: true, output }),
  failure: ({ errorName, error }) => ({ ok: false, error: errorName, message: error.message }),
  envelope: (output) => ({ type: "object", properties: { ok: { type: "boolean" }, output }, required: ["ok"] })
})

const shout = defineTool({
  name: "word.shout",
  description: "Says a word loudly.",
  input: z.strictObject({ word: z.string().describe("What to say") }),
  output: z.object({ said: z.string() }),
  risk: "read_only",
  execute: ({ word }) => Effect.succeed({ said: word.toUpperCase() }),
  render: ({ said }) => `${said}!`
})

const save = defineTool({
  name: "save",
  description: "Writes a file.",
  input: z.strictObject({ path: z.string(), content: z.string() }),
  output: z.object({ path: z.string() }),
  risk: "dangerous",
  idempotent: true,
  openWorld: true,
  touches: ({ path }) => ({ writes: [path] }),
  execute: Effect.fnUntraced(function* ({ path, content }) {
    const workspace = yield* Workspace
    yield* workspace.commit([{ kind: "write", path, content: new TextEncoder().encode(content) }])
    return { path }
  })
})

const steps = defineTool({
  name: "steps",
  description: "Counts aloud, then waits until it is stopped if it is told to.",
  input: z.strictObject({ wait: z.boolean().default(false) }),
  output: z.object({ counted: z.number() }),
  risk: "read_only",
  execute: Effect.fnUntraced(function* ({ wait }) {
    for (const message of ["one", "two"]) yield* reportProgress({ message, total: 2 })
    if (wait) return yield* Effect.never
    return { counted: 2 }
  })
})

// An approver that asks the caller whenever the contract wants a person.
export const askTheCaller = Layer.succeed(Approver, {
  judge: ({ asks }) => Effect.succeed({ decision: asks ? "ask" : "allow", reason: "the contract asks" }),
  ask: (question) => CurrentCall.use(({ ask }) => ask?.(question) ?? Effect.succeed({ approved: false }))
})

const plugin = definePlugin({ name: "words", version: "1.0.0", tools: [shout, save, steps] })

/** A host in memory with three small tools, and what is on record of it. */
export const wordsHost = (events: Array<JournalEvent> = []) =>
  Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(
    Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(events), askTheCaller))
  )

export const openWordsHost = async (): Promise<{ host: OpenHost; events: Array<JournalEvent> }> => {
  const events: Array<JournalEvent> = []
  return { host: await openHost(wordsHost(events)), events }
}
