import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { plainDialect } from "../../test/plain-dialect.ts"
import { denyAll, Host, memoryJournal, memoryWorkspace, Processes, Sandbox, type Touches, use } from "../index.ts"
import { type AsyncToolContext, definePlugin, defineService, defineTool, openHost } from "../promise.ts"

const base = Layer.mergeAll(memoryWorkspace({ "a.txt": "one" }), memoryJournal(), denyAll)

// A machine on which every program prints its own name and arguments.
const echo = Layer.merge(
  Layer.succeed(Sandbox, {
    wrap: (command) => Effect.succeed(command),
    describe: Effect.succeed({ kind: "none", isolated: false, enforced: [], notEnforced: [] })
  }),
  Layer.succeed(Processes, {
    run: ({ program, args }, { onStdout } = {}) =>
      Effect.sync(() => {
        onStdout?.(new TextEncoder().encode([program, ...args].join(" ")))
        return { exitCode: 0, signal: null, timedOut: false, durationMs: 1, leftRunning: 0 }
      }),
    end: () => Effect.void,
    feed: () => 0,
    release: () => Effect.succeed([]),
    inspect: () => Effect.succeed([]),
    systemProgram: () => undefined,
    mark: Effect.succeed({ name: "MARK", value: "1" })
  })
)

interface Client {
  readonly url: string
  isOpen: boolean
}
const Client = defineService<Client>("tickets/Client")

const tool = { description: "x", input: z.strictObject({}), output: z.object({ text: z.string() }) }
const where = defineTool({
  ...tool,
  risk: "read_only",
  name: "where",
  execute: async (_input, context) => ({ text: context.use(Client).url })
})
const read = defineTool({
  ...tool,
  risk: "read_only",
  name: "read",
  input: z.strictObject({ path: z.string() }),
  execute: async ({ path }, { workspace }) => ({ text: new TextDecoder().decode(await workspace.read(path)) })
})
const run = defineTool({
  ...tool,
  risk: "read_only",
  name: "run",
  execute: async (_input, context) => ({
    text: (await context.run({ program: "git", args: ["status"] })).stdout.text
  })
})

describe("a plugin made of async functions", () => {
  const clients: Array<Client> = []
  const tickets = definePlugin({
    name: "tickets",
    version: "1.0.0",
    config: z.strictObject({ url: z.string() }),
    tools: [where],
    lends: Client,
    start: async ({ url }) => {
      if (url === "") throw new Error("no address")
      const client = { url, isOpen: true }
      clients.push(client)
      return client
    },
    stop: async (client) => {
      client.isOpen = false
    },
    health: async ({ isOpen, url }) => {
      if (!isOpen || url === "http://down") throw new Error("the server does not answer")
    }
  })
  const open = (url: string) =>
    openHost(Host.layer({ dialect: plainDialect, plugins: [use(tickets, { url })] }).pipe(Layer.provide(base)))

  it("starts, lends its tools what it made, and stops with the host", async () => {
    const host = await open("http://here")
    expect((await host.call("where", {})).wire).toEqual({ text: "http://here" })
    expect(await host.health()).toEqual([{ plugin: "tickets", version: "1.0.0", isWell: true }])
    await host.dispose()
    expect(clients.map(({ isOpen }) => isOpen)).toEqual([false])
  })

  it("says what is wrong with it", async () => {
    await using host = await open("http://down")
    expect(await host.health()).toMatchObject([{ isWell: false, problem: "the server does not answer" }])
    await expect(open("")).rejects.toThrow("plugin tickets: it could not start: no address")
  })

  it("reaches the workspace and runs programs through the host, and only there", async () => {
    const plugin = use(definePlugin({ name: "reach", version: "1.0.0", tools: [read, run, where] }))
    await using bare = await openHost(
      Host.layer({ dialect: plainDialect, plugins: [plugin] }).pipe(Layer.provide(base))
    )
    expect((await bare.call("read", { path: "a.txt" })).wire).toEqual({ text: "one" })
    expect((await bare.call("read", { path: "b.txt" })).wire).toMatchObject({ error: "file_not_found" })
    expect((await bare.call("run", {})).wire).toMatchObject({ error: "sandbox_unavailable" })
    expect((await bare.call("where", {})).wire).toMatchObject({ error: "internal_error" })
    const services = Layer.merge(base, echo)
    await using host = await openHost(
      Host.layer({ dialect: plainDialect, plugins: [plugin] }).pipe(Layer.provide(services))
    )
    expect((await host.call("run", {})).wire).toEqual({ text: "git status" })
  })

  it("is held to what its tools say they touch, at once or later, and runs none that can't say", async () => {
    const touching = (
      name: string,
      touches: (input: object, context: AsyncToolContext) => Touches | Promise<Touches>
    ) => defineTool({ ...tool, risk: "read_only", name, touches, execute: async () => ({ text: "it ran" }) })
    const tools = [
      touching("now", () => ({ writes: ["../b.txt"] })),
      touching("later", async () => ({ writes: ["../b.txt"] })),
      touching("unsure", async (_input, { workspace }) => ({ reads: [(await workspace.info("b.txt")).path] }))
    ]
    const plugin = use(definePlugin({ name: "touching", version: "1.0.0", tools }))
    await using host = await openHost(
      Host.layer({ dialect: plainDialect, plugins: [plugin] }).pipe(Layer.provide(base))
    )
    const codes = await Promise.all(host.tools.map(async ({ name }) => (await host.call(name, {})).error?.code))
    expect(codes).toEqual(["path_outside_workspace", "path_outside_workspace", "file_not_found"])
  })

  it("has ended what it began through the host when its call ends: cancelled, or not waited for", async () => {
    const ended: Array<string> = []
    const slow = Layer.succeed(Processes, {
      run: ({ args }) =>
        Effect.never.pipe(
          Effect.onInterrupt(() =>
            Effect.andThen(
              Effect.sleep("20 millis"),
              Effect.sync(() => ended.push(...args))
            )
          )
        ),
      end: () => Effect.void,
      feed: () => 0,
      release: () => Effect.succeed([]),
      inspect: () => Effect.succeed([]),
      systemProgram: () => undefined,
      mark: Effect.succeed({ name: "MARK", value: "1" })
    })
    const begin = (name: string, isWaitedFor: boolean) =>
      defineTool({
        ...tool,
        risk: "read_only",
        name,
        execute: async (_input, context) => {
          const end = context.run({ program: "git", args: [name] }).catch(() => undefined)
          if (isWaitedFor) await end
          return { text: "done" }
        }
      })
    const plugin = use(
      definePlugin({ name: "begins", version: "1.0.0", tools: [begin("waits", true), begin("forgets", false)] })
    )
    const services = Layer.mergeAll(base, echo, slow)
    await using host = await openHost(
      Host.layer({ dialect: plainDialect, plugins: [plugin] }).pipe(Layer.provide(services))
    )
    expect((await host.call("forgets", {})).wire).toEqual({ text: "done" })
    expect(ended).toEqual(["forgets"])
    const controller = new AbortController()
    const call = host.call("waits", {}, { signal: controller.signal })
    setTimeout(() => controller.abort(), 5)
    await expect(call).rejects.toThrow("aborted")
    expect(ended).toEqual(["forgets", "waits"])
  })
})

it("a tool made of async functions attaches content blocks to its answer", async () => {
  const image = { type: "image", data: "iVBORw0=", mimeType: "image/png" } as const
  const draw = defineTool({
    ...tool,
    risk: "read_only",
    name: "draw",
    execute: async (_input, { attach }) => {
      attach(image)
      return { text: "drawn" }
    },
    render: ({ text }) => text
  })
  const plugins = [use(definePlugin({ name: "draws", version: "1.0.0", tools: [draw] }))]
  const host = await openHost(Host.layer({ dialect: plainDialect, plugins }).pipe(Layer.provide(base)))
  expect((await host.call("draw", {})).blocks).toEqual([{ type: "text", text: "drawn" }, image])
  expect((await host.call("draw", {})).blocks).toHaveLength(2)
  await host.dispose()
})
