import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as z from "zod"

import { plainDialect } from "../../test/plain-dialect.ts"
import {
  Approver,
  definePlugin,
  defineTool,
  denyAll,
  Host,
  makeToolError,
  memoryJournal,
  memoryWorkspace,
  type Plugin,
  type ToolDefinition,
  use
} from "../index.ts"

// Faults of third-party tools, and how a host handles them.

const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)

const hostOf = (...plugins: ReadonlyArray<Plugin<never, undefined>>) =>
  Host.layer({ dialect: plainDialect, plugins: plugins.map((plugin) => use(plugin)) }).pipe(Layer.provide(services))

type Odd = Omit<Partial<ToolDefinition<string, z.ZodObject, z.ZodObject, never>>, "examples">
const replyTo = (odd: Odd, args: unknown = {}) => {
  const tool = defineTool({
    name: "odd",
    description: "Does something.",
    input: z.strictObject({}),
    output: z.looseObject({}),
    risk: "read_only",
    render: () => "text",
    execute: () => Effect.succeed({}),
    ...odd
  })
  const plugin = definePlugin({ name: "odd", version: "1.0.0", tools: [tool] })
  return Host.use(({ call }) => call("odd", args)).pipe(Effect.provide(hostOf(plugin)))
}

const circle: Record<string, unknown> = {}
circle["self"] = circle
const refuse = (): never => {
  throw new Error("no")
}
/** Nobody can look at it, not even to put it into the log. */
const untouchable = new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse, has: refuse })

const notFound = makeToolError("file_not_found", "it is gone")

it.effect.each([
  ["a circle", { execute: () => Effect.succeed(circle) }],
  ["a BigInt", { execute: () => Effect.succeed({ n: 1n }) }],
  ["a symbol", { execute: () => Effect.succeed({ n: Symbol("n") }) }],
  ["a function", { execute: () => Effect.succeed({ toJSON: () => "other" }) }],
  ["an object of a class", { execute: () => Effect.succeed({ n: new Map() }) }],
  ["more text than a host can hold", { execute: () => Effect.succeed({ n: "x".repeat(128_000_001) }) }],
  ["nothing", { execute: () => Effect.succeed(undefined as never) }],
  ["a text that is none", { render: () => 5 as never }],
  ["a circle in a failure", { execute: () => Effect.fail(makeToolError("file_not_found", "x", { details: circle })) }],
  ["a failure of an unknown code", { execute: () => Effect.fail(makeToolError("made_up" as never, "x")) }],
  ["what can't be looked at", { execute: () => Effect.die(untouchable) }],
  [
    "with an error that can't be shown",
    { execute: () => Effect.die(Object.defineProperty({}, "message", { get: refuse })) }
  ],
  [
    "a text that can't be looked at",
    {
      render: () => {
        throw untouchable
      }
    }
  ],
  [
    "words for a failure that throw",
    {
      execute: () => Effect.fail(notFound),
      wording: {
        file_not_found: () => {
          throw new Error("a bug")
        }
      }
    }
  ]
] as ReadonlyArray<readonly [string, Odd]>)("a tool that answers %s fails by a bug of its own, alone", ([, odd]) =>
  Effect.gen(function* () {
    expect(yield* replyTo(odd)).toMatchObject({ ok: false, wire: { error: "internal_error" } })
  })
)

it.effect("a tool can't change its input after it said what it touches", () =>
  Effect.gen(function* () {
    const worked: Array<unknown> = []
    const reply = yield* replyTo(
      {
        input: z.strictObject({ paths: z.array(z.string()) }),
        touches: (input) => {
          ;(input["paths"] as Array<string>).push("another.txt")
          return {}
        },
        execute: (input) => Effect.sync(() => ({ count: worked.push(input) }))
      },
      { paths: ["a.txt"] }
    )
    expect(reply).toMatchObject({ ok: false, wire: { error: "internal_error" } })
    expect(worked).toEqual([])
  })
)

it.effect("a plugin can't put itself in the place of the host's approver, or of another plugin's service", () =>
  Effect.gen(function* () {
    class Client extends Context.Service<Client, string>()("test/Client") {}
    const lends = <A>(name: string, layer: () => Layer.Layer<A>) =>
      definePlugin({ name, version: "1.0.0", tools: [], layer })
    const approves = lends("approves", () => Layer.succeed(Approver, {} as never))
    const client = () => Layer.succeed(Client, "")
    const other = () => Layer.succeed(Client, "other")
    const problem = (...plugins: ReadonlyArray<Plugin<never, undefined>>) =>
      Effect.flip(Effect.provide(Host, hostOf(...plugins))).pipe(Effect.map(({ message }) => message))
    expect(yield* problem(approves)).toContain("plugin approves: it provides @haft/core/Approver, which the host")
    expect(yield* problem(lends("one", client), lends("two", other))).toContain("plugin two: it provides test/Client")
  })
)

const stubborn = Effect.uninterruptible(Effect.never)

it.effect("a plugin whose start never ends, and can't be interrupted, is refused by name", () =>
  Effect.gen(function* () {
    const hangs = definePlugin({
      name: "hangs",
      version: "1.0.0",
      tools: [],
      layer: () => Layer.effectDiscard(stubborn)
    })
    const fiber = yield* Effect.forkChild(Effect.flip(Effect.provide(Host, hostOf(hangs))), { startImmediately: true })
    yield* TestClock.adjust("31 seconds")
    expect((yield* Fiber.join(fiber)).message).toMatch(/^plugin hangs: it did not start within 30 seconds\. Fix it/)
  })
)

it.effect("a plugin whose stop never ends keeps neither the host nor other plugins from stopping", () =>
  Effect.gen(function* () {
    const isStopped = yield* Deferred.make<boolean>()
    const lives = (name: string, stop: Effect.Effect<unknown>) =>
      definePlugin({
        name,
        version: "1.0.0",
        tools: [],
        layer: () => Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => stop))
      })
    const plugins = [
      lives("good", Deferred.succeed(isStopped, true)),
      lives("throws", Effect.die("a bug")),
      lives("hangs", stubborn)
    ]
    const fiber = yield* Effect.forkChild(Effect.provide(Host, hostOf(...plugins)), { startImmediately: true })
    yield* TestClock.adjust("11 seconds")
    yield* Fiber.join(fiber)
    expect(yield* Deferred.await(isStopped)).toBe(true)
  })
)
