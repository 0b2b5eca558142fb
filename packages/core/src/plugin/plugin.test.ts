import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { defineDialect, definePlugin, defineTool, denyAll, Host } from "../index.ts"
import { type ConfiguredPlugin, memoryJournal, memoryWorkspace, type Plugin, PluginError, use } from "../index.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: () => false,
  success: ({ output }) => output,
  failure: ({ errorName }) => ({ error: errorName }),
  envelope: (output) => output
})
const other = defineDialect({ ...plain, name: "other" })

class Greeting extends Context.Service<Greeting, string>()("test/Greeting") {}

const greet = defineTool({
  name: "greet.person",
  description: "Greets.",
  input: z.strictObject({ name: z.string() }),
  output: z.object({ text: z.string() }),
  risk: "read_only",
  execute: ({ name }) => Greeting.useSync((greeting) => ({ text: `${greeting} ${name}` }))
})

const greetings = definePlugin({
  name: "greetings",
  version: "1.2.3",
  config: z.strictObject({ greeting: z.string() }),
  tools: [greet],
  layer: ({ greeting }) => Layer.succeed(Greeting, greeting)
})

const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)

const problemOf = (plugins: ReadonlyArray<ConfiguredPlugin>) =>
  Effect.flip(Effect.provide(Host, Host.layer({ dialect: plain, plugins }).pipe(Layer.provide(services)))).pipe(
    Effect.map((error) => error.message)
  )

describe("plugins", () => {
  it.effect("lend their tools what they need, by their configuration", () =>
    Effect.gen(function* () {
      const { call, tools } = yield* Host
      expect((yield* call("greet.person", { name: "Ada" })).wire).toEqual({ text: "Hello Ada" })
      expect(tools.map(({ name, plugin }) => [name, plugin])).toEqual([["greet.person", "greetings"]])
    }).pipe(
      Effect.provide(
        Host.layer({ dialect: plain, plugins: [use(greetings, { greeting: "Hello" })] }).pipe(Layer.provide(services))
      )
    )
  )

  it.effect("answer to a name that model APIs accept, too", () =>
    Effect.gen(function* () {
      const { call } = yield* Host
      expect((yield* call("greet_person", { name: "Ada" })).wire).toEqual({ text: "Hi Ada" })
    }).pipe(
      Effect.provide(
        Host.layer({ dialect: plain, plugins: [use(greetings, { greeting: "Hi" })] }).pipe(Layer.provide(services))
      )
    )
  )

  it("are refused by name when their configuration does not fit", () => {
    expect(() => use(greetings, { greeting: 1 } as never)).toThrow(
      new PluginError(
        "greetings",
        "its configuration does not fit: greeting: expected a string, got a number. Correct it where the plugin is named."
      )
    )
  })

  it("are told what they need when they are given no configuration", () => {
    expect(() => use(greetings, undefined as never)).toThrow(
      "plugin greetings: it needs a configuration: greeting: expected a string, got nothing. Give it one: use("
    )
  })

  it("treat a missing configuration as an empty one where the schema allows it", () => {
    const config = z.strictObject({ greeting: z.string().default("Hello") })
    const plugin = definePlugin({ name: "greetings", version: "1.0.0", config, tools: [] })
    expect(use(plugin, undefined as never).name).toBe("greetings")
  })

  it("are refused by name when they speak another contract number", () => {
    const newer: Plugin<never, undefined> = {
      ...definePlugin({ name: "newer", version: "9.0.0", tools: [] }),
      "~haft/Plugin": 99
    }
    expect(() => use(newer)).toThrow("plugin newer: it was made for plugin contract 99, this host speaks 1")
  })

  it.effect("are refused when two of them have a tool of the same name", () =>
    Effect.gen(function* () {
      const twin = definePlugin({
        name: "twin",
        version: "1.0.0",
        tools: [greet],
        layer: () => Layer.succeed(Greeting, "Hey")
      })
      expect(yield* problemOf([use(greetings, { greeting: "Hello" }), use(twin)])).toBe(
        "plugin twin: its tool 'greet.person' is also in plugin greetings. Use only one of the two."
      )
    })
  )

  it.effect.each([
    ["fails", "no server", () => Layer.effect(Greeting, Effect.fail("no server"))],
    [
      "throws",
      "a bug",
      () =>
        Layer.sync(Greeting, () => {
          throw new Error("a bug")
        })
    ]
  ] as const)("are refused by name when starting %s", ([, reason, layer]) =>
    Effect.gen(function* () {
      const broken = definePlugin({ name: "broken", version: "1.0.0", tools: [greet], layer })
      expect(yield* problemOf([use(broken)])).toBe(
        `plugin broken: it could not start: ${reason}. Mend that, or start the host without it.`
      )
    })
  )

  it.effect("bring only the tools of the host's dialect, and those of none", () =>
    Effect.gen(function* () {
      const tool = {
        description: "x",
        input: z.strictObject({}),
        output: z.object({}),
        risk: "read_only",
        execute: () => Effect.succeed({})
      } as const
      const several = definePlugin({
        name: "several",
        version: "1.0.0",
        tools: [
          plain.tool({ ...tool, name: "mine" }),
          other.tool({ ...tool, name: "theirs" }),
          defineTool({ ...tool, name: "anybodys" })
        ]
      })
      const { tools } = yield* Host.pipe(
        Effect.provide(Host.layer({ dialect: plain, plugins: [use(several)] }).pipe(Layer.provide(services)))
      )
      expect(tools.map(({ name }) => name)).toEqual(["mine", "anybodys"])
    })
  )

  it("are refused by name when they take no configuration and are given one, or when reading it throws", () => {
    const bare = definePlugin({ name: "bare", version: "1.0.0", tools: [] })
    expect(() => use(bare, { a: 1 } as never)).toThrow("plugin bare: it takes no configuration, and was given one")
    const health = () => {
      throw new Error("a bug")
    }
    const broken = definePlugin({ name: "broken", version: "1.0.0", tools: [], health })
    expect(() => use(broken)).toThrow("plugin broken: it can't be configured: a bug")
  })

  it.effect("are refused by name with two tools of one name, and with another number when they are bound already", () =>
    Effect.gen(function* () {
      const twice = definePlugin({
        name: "twice",
        version: "1.0.0",
        tools: [greet, greet],
        layer: () => Layer.succeed(Greeting, "Hi")
      })
      expect(yield* problemOf([use(twice)])).toBe("plugin twice: it has two tools 'greet.person'. Rename one of them.")
      const newer = { ...use(greetings, { greeting: "Hi" }), "~haft/Plugin": 2 }
      expect(yield* problemOf([newer])).toMatch(/^plugin greetings: it was made for plugin contract 2/)
    })
  )

  it.effect("are left out, nothing of them open, when the host is told to start without those it can't use", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const lived = (name: string) =>
        Effect.acquireRelease(
          Effect.sync(() => events.push(`${name} starts`)),
          () => Effect.sync(() => events.push(`${name} stops`))
        )
      const halfway = definePlugin({
        name: "halfway",
        version: "1.0.0",
        tools: [greet],
        layer: () => Layer.effect(Greeting, Effect.andThen(lived("halfway"), Effect.fail("no server")))
      })
      const good = definePlugin({
        name: "good",
        version: "1.0.0",
        tools: [greet],
        layer: () => Layer.effect(Greeting, Effect.as(lived("good"), "Hello"))
      })
      const late = definePlugin({
        name: "late",
        version: "1.0.0",
        tools: [greet],
        layer: () => Layer.effect(Greeting, Effect.as(lived("late"), "Late"))
      })
      const plugins = [use(halfway), use(good), use(late)]
      yield* Effect.gen(function* () {
        const { call, skipped } = yield* Host
        expect(skipped.map(({ message }) => message)).toEqual([
          "plugin halfway: it could not start: no server. Mend that, or start the host without it.",
          "plugin late: its tool 'greet.person' is also in plugin good. Use only one of the two."
        ])
        expect((yield* call("greet.person", { name: "Ada" })).wire).toEqual({ text: "Hello Ada" })
        expect(events).toEqual(["halfway starts", "halfway stops", "good starts"])
      }).pipe(
        Effect.provide(Host.layer({ dialect: plain, plugins, onPluginError: "skip" }).pipe(Layer.provide(services)))
      )
      expect(events).toEqual(["halfway starts", "halfway stops", "good starts", "good stops"])
    })
  )

  it.live("say how they are", () =>
    Effect.gen(function* () {
      const ill = definePlugin({ name: "ill", version: "1.0.0", tools: [], health: () => Effect.fail("no server") })
      const buggy = definePlugin({ name: "buggy", version: "1.0.0", tools: [], health: () => Effect.die("a bug") })
      const fit = definePlugin({
        name: "fit",
        version: "1.0.0",
        tools: [],
        layer: () => Layer.succeed(Greeting, "Hi"),
        health: () => Greeting.useSync(() => undefined)
      })
      const silent = definePlugin({ name: "silent", version: "2.0.0", tools: [] })
      const { health } = yield* Host.pipe(
        Effect.provide(
          Host.layer({ dialect: plain, plugins: [use(ill), use(buggy), use(fit), use(silent)] }).pipe(
            Layer.provide(services)
          )
        )
      )
      expect(yield* health).toEqual([
        { plugin: "ill", version: "1.0.0", isWell: false, problem: "no server" },
        { plugin: "buggy", version: "1.0.0", isWell: false, problem: "a bug" },
        { plugin: "fit", version: "1.0.0", isWell: true },
        { plugin: "silent", version: "2.0.0", isWell: true }
      ])
    })
  )
})
