import { describe, expect, it } from "@effect/vitest"
import type { Call } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { agentControl } from "./agent-control.ts"

const callOf = (name: string, role = "agent"): Call => ({
  id: "call",
  step: 1,
  tool: "read_file",
  dialect: "haft",
  startedAt: 0,
  caller: { name, role }
})

describe("agent control", () => {
  it.effect("holds the calls of a paused agent until it is resumed, and no others", () =>
    Effect.gen(function* () {
      const control = agentControl(() => 7)
      control.pause("ci", { name: "alice", role: "approver" })
      const held = yield* Effect.forkChild(control.admit(callOf("ci")), { startImmediately: true })
      expect(yield* control.admit(callOf("other"))).toEqual([])
      expect(yield* control.admit(callOf("ci", "approver"))).toEqual([])
      yield* Effect.yieldNow
      expect(held.pollUnsafe()).toBe(undefined)
      expect(control.agents()).toContainEqual({
        name: "ci",
        lastCallAt: 7,
        paused: { at: 7, by: { name: "alice", role: "approver" } },
        messages: 0
      })
      control.tell("ci", "run the tests")
      control.resume("ci")
      expect(yield* Fiber.join(held)).toEqual(["run the tests"])
      expect(yield* control.admit(callOf("ci"))).toEqual([])
      expect(control.agents().some(({ paused }) => paused !== undefined)).toBe(false)
    })
  )

  it.effect("keeps a hundred messages for an agent that does not call", () =>
    Effect.gen(function* () {
      const control = agentControl()
      for (let count = 1; count <= 150; count++) control.tell("ci", `message ${count}`)
      const messages = yield* control.admit(callOf("ci"))
      expect([messages.length, messages[0], messages.at(-1)]).toEqual([100, "message 51", "message 150"])
    })
  )
})
