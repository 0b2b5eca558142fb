import { afterAll, describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

import { type HaftConfig, makeHost } from "../internal.ts"

const workspace = temporaryWorkspace({ "a.txt": "one\n" })
afterAll(() => workspace.remove())
const config = { root: workspace.root, state: workspace.state, packages: ["fs", "exec", "search"] } satisfies HaftConfig

/** A tracer that keeps its spans. */
const collector = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const parentOf = (name: string): string | undefined => {
    const parent = spans.find((span) => span.name === name)?.parent
    return parent !== undefined && Option.isSome(parent) && parent.value._tag === "Span" ? parent.value.name : undefined
  }
  const below = (call: string): ReadonlyArray<string> =>
    spans.map(({ name }) => name).filter((name) => name.startsWith("haft.") && isBelow(name, call))
  const isBelow = (name: string, call: string): boolean => {
    const parent = parentOf(name)
    return parent === call || (parent !== undefined && isBelow(parent, call))
  }
  return { spans, tracer, parentOf, below }
}

describe("spans of a call", () => {
  it.effect("show every step of an approved change, below the caller's own span", () =>
    Effect.gen(function* () {
      const { spans, tracer, parentOf, below } = collector()
      const host = yield* makeHost({ ...config, sandbox: "none" }).pipe(Effect.withSpan("start"))
      const reply = yield* host
        .call("write_file", { path: "a.txt", content: "two\n" }, { ask: () => Effect.succeed({ approved: true }) })
        .pipe(Effect.withSpan("request"), Effect.withTracer(tracer))
      expect(reply.ok).toBe(true)
      expect(parentOf("haft write_file")).toBe("request")
      const steps = ["haft.decode", "haft.assess", "haft.judge", "haft.preview", "haft.ask", "haft.execute"]
      expect(below("haft write_file")).toEqual([...steps, "haft.commit"])
      expect(parentOf("haft.commit")).toBe("haft.execute")
      expect(spans.every(({ status }) => status._tag === "Ended")).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("show how long a sandbox took to set up and its command to run", () =>
    Effect.gen(function* () {
      const { spans, tracer, parentOf, below } = collector()
      const host = yield* makeHost({ ...config, approval: "all" })
      const reply = yield* host.call("run_command", { command: "true" }).pipe(Effect.withTracer(tracer))
      expect(reply).toMatchObject({ ok: true })
      expect(below("haft run_command")).toEqual(expect.arrayContaining(["haft.sandbox", "haft.run"]))
      expect(parentOf("haft.sandbox")).toBe("haft.execute")
      const sandbox = spans.find(({ name }) => name === "haft.sandbox")
      expect(sandbox?.attributes.get("haft.sandbox")).toMatch(/^[a-z]+$/)
    }).pipe(Effect.scoped)
  )

  it.effect("show how long the code index was refreshed", () =>
    Effect.gen(function* () {
      const { tracer, parentOf } = collector()
      const host = yield* makeHost({ ...config, sandbox: "none" })
      const reply = yield* host.call("search_code", { query: "one" }).pipe(Effect.withTracer(tracer))
      expect(reply).toMatchObject({ ok: true })
      expect(parentOf("haft.index")).toBe("haft.execute")
    }).pipe(Effect.scoped)
  )

  it.effect.runIf(process.platform === "linux")("show the changes of an overlay (not on this platform)", () =>
    Effect.gen(function* () {
      const { tracer, parentOf } = collector()
      const host = yield* makeHost({ ...config, approval: "all" })
      const reply = yield* host.call("run_command", { command: "echo 1 > b.txt" }).pipe(Effect.withTracer(tracer))
      expect(reply).toMatchObject({ ok: true })
      expect(parentOf("haft.commit")).toBe("haft.overlay")
    }).pipe(Effect.scoped)
  )

  it.effect("end with the step that refused the call", () =>
    Effect.gen(function* () {
      const { spans, tracer } = collector()
      const host = yield* makeHost({ ...config, sandbox: "none", approval: "none" })
      const reply = yield* host
        .call("write_file", { path: "a.txt", content: "three\n" })
        .pipe(Effect.withTracer(tracer))
      expect(reply.error?.code).toBe("approval_denied")
      expect(spans.map(({ name }) => name)).toEqual(["haft write_file", "haft.decode", "haft.assess", "haft.judge"])
    }).pipe(Effect.scoped)
  )
})
