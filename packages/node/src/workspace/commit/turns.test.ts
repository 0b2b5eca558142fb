import { type CommitError, type UndoReport, Workspace, type WorkspaceService } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe, expect, it, onTestFinished } from "vitest"

import { nodeWorkspace } from "../workspace.ts"

const count = 1000

const files = Object.fromEntries(Array.from({ length: count }, (_, at) => [`d/${at % 7}/f${at}.txt`, `text ${at}`]))

type Doing = (workspace: WorkspaceService) => Effect.Effect<unknown, CommitError | { readonly code: string }>

const removal: Doing = ({ plan }) =>
  Effect.gen(function* () {
    const removing = yield* plan
    yield* removing.remove("d", { recursive: true })
    yield* removing.commit()
  })

const writing: Doing = ({ plan }) =>
  Effect.gen(function* () {
    const changing = yield* plan
    for (const path of Object.keys(files)) yield* changing.write(path, Buffer.from("changed"))
    yield* changing.commit()
  })

const undoing: Doing = (workspace): Effect.Effect<UndoReport, { readonly code: string }> => workspace.undo()

interface Operation {
  readonly before?: Doing
  readonly work: Doing
  /** Content of each file afterwards. */
  readonly after: (path: string) => string | null
}

const operations: ReadonlyArray<readonly [string, Operation]> = [
  ["removal", { work: removal, after: () => null }],
  ["write", { work: writing, after: () => "changed" }],
  ["undo of a removal", { before: removal, work: undoing, after: (path) => files[path] ?? null }],
  ["undo of a write", { before: writing, work: undoing, after: (path) => files[path] ?? null }]
]

const inWorkspace = <A>(use: (workspace: WorkspaceService, read: () => string) => Effect.Effect<A, unknown>) => {
  const place = temporaryWorkspace(files)
  onTestFinished(place.remove)
  const read = (): string =>
    JSON.stringify(Object.keys(files).map((path) => (place.exists(path) ? place.read(path) : null)))
  const layer = nodeWorkspace({ root: place.root, state: place.state, durable: false })
  return Effect.runPromise(Workspace.use((workspace) => use(workspace, read)).pipe(Effect.provide(layer)))
}

/** Counts the turns of the event loop while an effect runs. */
const turnsDuring = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    let turns = 0
    let handle: NodeJS.Immediate
    const next = (): void => {
      handle = setImmediate(() => {
        turns++
        next()
      })
    }
    next()
    return Effect.map(
      Effect.ensuring(
        effect,
        Effect.sync(() => clearImmediate(handle))
      ),
      () => turns
    )
  })

describe.each(operations)("%s of 1,000 files", (_name, { before, work, after }) => {
  it("lets the event loop go on in between", () =>
    inWorkspace((workspace) =>
      Effect.gen(function* () {
        if (before !== undefined) yield* before(workspace)
        const turns = yield* turnsDuring(work(workspace))
        expect(turns).toBeGreaterThan(count / 128)
      })
    ))

  it("is whole or has not happened when it is interrupted at any turn", { timeout: 120_000 }, async () => {
    const done = JSON.stringify(Object.keys(files).map(after))
    for (const turn of [2, 9, 22]) {
      await inWorkspace((workspace, read) =>
        Effect.gen(function* () {
          if (before !== undefined) yield* before(workspace)
          const original = read()
          const fiber = yield* Effect.forkChild(work(workspace))
          for (let at = 0; at < turn; at++) yield* Effect.promise(() => new Promise((next) => setImmediate(next)))
          yield* Fiber.interrupt(fiber)
          expect([original, done]).toContain(read())
        })
      )
    }
  })
})
