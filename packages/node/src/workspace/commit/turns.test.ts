import { type CommitError, type UndoReport, Workspace, type WorkspaceService } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe, expect, it, onTestFinished } from "vitest"

import { closeRoot, openRoot } from "../paths/containment.ts"
import { nodeWorkspace } from "../workspace.ts"
import { refuseTooMany } from "./plan-removal.ts"
import { type Node, openView } from "./planned-tree.ts"
import { stepsFor } from "./steps.ts"

const count = 400

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

const inWorkspace = <A>(
  use: (workspace: WorkspaceService, read: () => string) => Effect.Effect<A, unknown>,
  options: { readonly onStep?: (name: string) => void } = {}
) => {
  const place = temporaryWorkspace(files)
  onTestFinished(place.remove)
  const read = (): string =>
    JSON.stringify(Object.keys(files).map((path) => (place.exists(path) ? place.read(path) : null)))
  const layer = nodeWorkspace({ root: place.root, state: place.state, durable: false, ...options })
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

/** The ways to read a workspace, each of the first and the last file that the operations below change. */
const looks: Readonly<Record<string, (workspace: WorkspaceService) => Effect.Effect<string>>> = {
  read: ({ read }) => atEnds((path) => Effect.map(read(path), (bytes) => Buffer.from(bytes).toString())),
  info: ({ info }) => atEnds((path) => Effect.map(info(path), ({ size }) => String(size))),
  fingerprint: ({ fingerprint }) => atEnds(fingerprint),
  plan: ({ plan }) =>
    orCode(Effect.flatMap(plan, ({ file }) => atEnds((path) => Effect.map(file(path), (found) => found.fingerprint)))),
  readEach: (workspace) =>
    Effect.suspend(() => {
      const found: Array<string> = []
      const visit: Parameters<WorkspaceService["readEach"]>[1] = (_path, content) =>
        found.push("code" in content ? content.code : Buffer.from(content).toString()) < 2
      return Effect.map(workspace.readEach(ends, visit), () => found.join())
    }),
  walk: ({ walk }) =>
    Effect.suspend(() => {
      let count = 0
      const visited = walk(".", ({ kind }) => {
        if (kind === "file") count++
        return "continue"
      })
      return orCode(Effect.map(visited, () => String(count)))
    }),
  glob: ({ glob }) => orCode(Effect.map(glob(".", "**/f*.txt"), ({ total }) => String(total)))
}

const ends = [Object.keys(files)[0] ?? "", Object.keys(files).at(-1) ?? ""]

const atEnds = (look: (path: string) => Effect.Effect<string, { readonly code: string }>) =>
  Effect.map(
    Effect.forEach(ends, (path) => orCode(look(path))),
    (found) => found.join()
  )

const orCode = (look: Effect.Effect<string, { readonly code: string }>): Effect.Effect<string> =>
  Effect.match(look, { onFailure: ({ code }) => code, onSuccess: (seen) => seen })

/** Every look at once, by name. */
const lookAll = (workspace: WorkspaceService) =>
  Effect.all(
    Object.entries(looks).map(([name, look]) => Effect.map(look(workspace), (seen) => `${name} ${seen}`)),
    { concurrency: "unbounded" }
  )

describe.each(operations)("%s of 400 files", (_name, { before, work }) => {
  it("is seen whole by readers that begin while its steps are done", () => {
    const steps = { done: 0, look: (): void => {} }
    const onStep = (name: string): void => {
      // One of the first steps, one in the middle of a turn, and one in a later turn.
      if (["set_aside", "put_in_place"].includes(name) && [1, 60, 300].includes(++steps.done)) steps.look()
    }
    return inWorkspace(
      (workspace) =>
        Effect.gen(function* () {
          if (before !== undefined) yield* before(workspace)
          const first = yield* lookAll(workspace)
          const early: Array<Fiber.Fiber<ReadonlyArray<string>>> = []
          Object.assign(steps, { done: 0, look: () => early.push(Effect.runFork(lookAll(workspace))) })
          yield* work(workspace)
          const seen = yield* Fiber.joinAll(early)
          const last = yield* lookAll(workspace)
          expect(seen.length).toBeGreaterThan(0)
          expect(seen).toEqual(seen.map(() => last))
          expect(last).not.toEqual(first)
        }),
      { onStep }
    )
  })
})

describe.each(operations)("%s of 400 files", (_name, { before, work, after }) => {
  it("lets the event loop go on in between", () =>
    inWorkspace((workspace) =>
      Effect.gen(function* () {
        if (before !== undefined) yield* before(workspace)
        const turns = yield* turnsDuring(work(workspace))
        expect(turns).toBeGreaterThan(count / 128)
      })
    ))

  it("is atomic when it is interrupted at any turn of the event loop", { timeout: 120_000 }, async () => {
    const done = JSON.stringify(Object.keys(files).map(after))
    for (const turn of [2, 6, 12]) {
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

describe.each([
  ["removal", { work: removal, early: ["prepared", "kept"], late: ["decided", "set_aside", "discarded"] }],
  ["write", { work: writing, early: ["prepared", "kept", "staged"], late: ["decided", "put_in_place", "discarded"] }]
] as const)("interrupted %s of 400 files", (_name, { work, early, late }) => {
  /** Interrupts the work at a step of its commit, and tells what is seen then, after a while and after an undo. */
  const interruptedAt = (step: string) => {
    const interrupting = { fiber: undefined as Fiber.Fiber<unknown, unknown> | undefined }
    const onStep = (name: string): void => {
      if (name !== step || interrupting.fiber === undefined) return
      Effect.runFork(Fiber.interrupt(interrupting.fiber))
      interrupting.fiber = undefined
    }
    return inWorkspace(
      (workspace, read) =>
        Effect.gen(function* () {
          const told: Array<string> = []
          workspace.onCommit?.((paths) => told.push(paths[0] ?? ""))
          const original = read()
          const fiber = yield* Effect.forkChild(work(workspace))
          interrupting.fiber = fiber
          yield* Fiber.await(fiber)
          const ended = read()
          yield* Effect.sleep("50 millis")
          expect(read()).toBe(ended)
          const undone = yield* Effect.match(workspace.undo(), { onFailure: ({ code }) => code, onSuccess: () => "ok" })
          expect(read()).toBe(original)
          return { isDone: ended !== original, isTold: told.length > 0, undone }
        }),
      { onStep }
    )
  }

  it.each(early)("has not happened, and has no history, before it is decided: %s", async (step) => {
    expect(await interruptedAt(step)).toEqual({ isDone: false, isTold: false, undone: "no_history" })
  })

  it.each(late)("happens, is announced and can be undone, once it is decided: %s", async (step) => {
    expect(await interruptedAt(step)).toEqual({ isDone: true, isTold: true, undone: "ok" })
  })
})

describe("refuseTooMany", () => {
  it.each([
    [410, undefined],
    // The 400 files lie in seven directories.
    [407, undefined],
    [406, "write_failed: d holds more than 406 files and directories; nothing was changed"],
    [3, "write_failed: d holds more than 3 files and directories; nothing was changed"]
  ])("counts the files and directories below one against a limit of %i", async (most, expected) => {
    const place = temporaryWorkspace(files)
    onTestFinished(place.remove)
    const root = openRoot(place.root)
    const refused = refuseTooMany(openView(root, "deny"), { path: "d", given: "d", most })
    const told = await Effect.runPromise(
      Effect.match(refused, { onFailure: ({ code, message }) => `${code}: ${message}`, onSuccess: () => undefined })
    )
    closeRoot(root)
    expect(told).toBe(expected)
  })
})

describe("stepsFor", () => {
  it("lists 200,000 files below one directory", () => {
    const children = new Map<string, Node>()
    for (let at = 0; at < 200_000; at++) children.set(`f${at}`, { kind: "file", content: [] })
    const place = temporaryWorkspace({})
    onTestFinished(place.remove)
    const root = openRoot(place.root)
    const view = openView(root, "deny")
    view.top.children.set("d", { kind: "directory", children })
    const { steps, staged } = stepsFor(view, "0123456789abcdef")
    closeRoot(root)
    expect([steps.length, staged.length]).toEqual([200_001, 200_000])
  })
})
