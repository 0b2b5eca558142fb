import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

import { examine, findConfig, type HaftConfig, makeHost, openRules, readRun, replayRun } from "./index.ts"
import { followRun } from "./workspace/record.ts"

let workspace: TemporaryWorkspace
let config: HaftConfig
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n", "haft.config.json": '{ "approval": "all" }' })
  config = { root: workspace.root, state: workspace.state, sandbox: "none" }
})
afterEach(() => workspace.remove())

const write = (content: string) =>
  Effect.flatMap(makeHost({ ...config, approval: "all" }), (host) =>
    host.call("write_file", { path: "a.txt", content })
  )

describe("for Effect users", () => {
  it.effect("configuration, calls, the record, rules and a replay are one program", () =>
    Effect.gen(function* () {
      const found = yield* findConfig({ overrides: config })
      expect(found).toMatchObject({ config, untrusted: `${workspace.root}/haft.config.json` })
      expect(yield* Effect.scoped(write("two\n"))).toMatchObject({ ok: true })

      const events = yield* readRun(config)
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(["tool_call_started", "tool_call_finished"])
      )

      const rules = yield* openRules(config)
      yield* rules.add({ id: "no-writes", touches: { writes: "**" }, decision: "deny" })
      expect(yield* rules.list).toMatchObject([{ id: "no-writes" }])
      const { calls } = yield* rules.test({})
      expect(calls).toMatchObject([{ tool: "write_file", simulated: { decision: "deny" }, change: "more" }])
      expect(yield* rules.remove("no-writes")).toBe(true)

      const replayed = yield* replayRun(config)
      expect(replayed).toMatchObject({ calls: [{ outcome: "same" }], files: [] })
      expect((yield* examine(config, { briefly: true })).map(({ subject }) => subject)).toContain("Workspace")
    })
  )

  it.effect("failures are values with a tag", () =>
    Effect.gen(function* () {
      const caught = readRun(config, { run: "none" }).pipe(
        Effect.catchTag("ConfigError", ({ message }) => Effect.succeed(message))
      )
      expect(yield* caught).toContain("there is no run 'none'")
      const rules = yield* openRules(config)
      const malformed = yield* Effect.flip(rules.add({ tool: 1 }))
      expect(malformed).toMatchObject({ _tag: "ConfigError", message: expect.stringContaining("this is not a rule") })
      expect(Exit.isFailure(yield* Effect.exit(findConfig({ file: `${workspace.root}/missing.json` })))).toBe(true)
    })
  )

  it.live("following a record ends with the fiber that follows it", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(write("two\n"))
      const finished = yield* Deferred.make<void>()
      const onEvent = ({ type }: { readonly type: string }): void => {
        if (type === "tool_call_finished") Deferred.doneUnsafe(finished, Effect.void)
      }
      const fiber = yield* Effect.forkChild(followRun(config, undefined, onEvent))
      yield* Deferred.await(finished)
      yield* Fiber.interrupt(fiber)
      expect(Exit.hasInterrupts(yield* Fiber.await(fiber))).toBe(true)
    })
  )
})
