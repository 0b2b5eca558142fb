import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { plainDialect } from "../test/plain-dialect.ts"
import {
  definePlugin,
  defineTool,
  denyAll,
  Host,
  memoryJournal,
  memoryWorkspace,
  type Profile,
  toolsInProfile,
  use
} from "./index.ts"

const tool = (name: string, description: string, profile?: Profile) =>
  defineTool({
    name,
    description,
    input: z.strictObject({ depth: z.number().optional().describe("Levels") }),
    output: z.object({}),
    risk: "read_only",
    execute: () => Effect.succeed({}),
    ...(profile !== undefined && { profile })
  })

const plugin = definePlugin({
  name: "tools",
  version: "1.0.0",
  tools: [
    tool("read", "Reads."),
    tool("rename", "Renames a file.", "coding"),
    tool("open_terminal", "Opens an interactive program.", "all"),
    tool("close_terminal", "Ends programs.", "all")
  ]
})

const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)
const hostWith = (profile?: Profile) =>
  Host.layer({
    dialect: plainDialect,
    plugins: [use(plugin)],
    ...(profile !== undefined && { profile })
  }).pipe(Layer.provide(services))

const listed = (profile?: Profile) =>
  Host.useSync(({ tools }) => tools.filter(({ deferred }) => deferred !== true).map(({ name }) => name)).pipe(
    Effect.provide(hostWith(profile))
  )

const find = (args: unknown) =>
  Host.use(({ call }) => call("find_tools", args)).pipe(Effect.provide(hostWith("minimal")))

describe("a host's profile", () => {
  it.effect("lists the tools of the profile and of smaller ones, and find_tools where it defers some", () =>
    Effect.gen(function* () {
      expect(yield* listed("minimal")).toEqual(["read", "find_tools"])
      expect(yield* listed("coding")).toEqual(["read", "rename", "find_tools"])
      expect(yield* listed("all")).toEqual(["read", "rename", "open_terminal", "close_terminal"])
      expect(yield* listed()).toEqual(yield* listed("all"))
    })
  )

  it.effect("lets deferred tools be called", () =>
    Effect.gen(function* () {
      const reply = yield* Host.use(({ call }) => call("open_terminal", {})).pipe(Effect.provide(hostWith("minimal")))
      expect(reply.ok).toBe(true)
    })
  )

  it.effect("gives lists of another profile the same tools as a host with it", () =>
    Effect.gen(function* () {
      const tools = yield* Host.useSync((host) => host.tools.map((one) => ({ ...one }))).pipe(
        Effect.provide(hostWith("coding"))
      )
      for (const profile of ["minimal", "coding", "all"] as const) {
        const names = toolsInProfile(tools, profile).filter(({ deferred }) => deferred !== true)
        expect(names.map(({ name }) => name)).toEqual(yield* listed(profile))
      }
    })
  )
})

describe("find_tools", () => {
  it.effect("ranks names before descriptions before parameters", () =>
    Effect.gen(function* () {
      const { output } = yield* find({ query: "terminals for programs" })
      expect(output).toMatchObject({
        tools: [
          { name: "open_terminal", parameters: { properties: { depth: { description: "Levels" } } } },
          { name: "close_terminal" }
        ],
        others: ["rename"]
      })
      expect((yield* find({ query: "depth" })).output).toMatchObject({ others: [] })
    })
  )

  it.effect("names all deferred tools where nothing matches, and returns at most max_results", () =>
    Effect.gen(function* () {
      for (const query of ["", "no such thing", "!?"]) {
        expect((yield* find({ query })).output).toEqual({
          tools: [],
          others: ["rename", "open_terminal", "close_terminal"]
        })
      }
      const { output, text } = yield* find({ query: "terminal", max_results: 1 })
      expect(output).toMatchObject({ tools: [{ name: "open_terminal" }], others: ["rename", "close_terminal"] })
      expect(text).toContain("open_terminal: Opens an interactive program.")
      expect(text).toContain("Not shown: rename, close_terminal")
    })
  )
})
