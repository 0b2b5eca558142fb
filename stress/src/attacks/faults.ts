import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { inspect } from "node:util"

import type { Reply } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { Resolver } from "@haft/web-tools"
import * as Layer from "effect/Layer"
import { type HaftConfig, standardHost, verifyRun } from "haft/internal"

import { type Attack, type Figure, none } from "../attack.ts"

/** Takes something away that a host needs, checks how calls fail, gives it back, and checks that calls work again. */
export const attack: Attack = async function* () {
  for (const [what, play] of Object.entries(faults)) yield await tried(what, play)
}

type Play = (workspace: TemporaryWorkspace, problems: Array<string>) => Promise<void>

const tried = async (what: string, play: Play): Promise<Figure> => {
  const workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const problems: Array<string> = []
  try {
    await play(workspace, problems)
  } catch (error) {
    problems.push(`it threw ${inspect(error).slice(0, 500)}`)
  } finally {
    workspace.remove()
  }
  return none(`${what}: fails closed, and recovers`, "once", problems)
}

const faults: Readonly<Record<string, Play>> = {
  "workspace full": async (workspace, problems) => {
    using _disk = smallDisk(workspace.root)
    workspace.put("a.txt", "one\n")
    await using host = await open(workspace)
    const large = "x".repeat(600_000)
    expect(await host.call("write_file", { path: "b.txt", content: large }), "write_failed", problems)
    expect(await host.call("write_file", { path: "a.txt", content: large }), "write_failed", problems)
    if (workspace.read("a.txt") !== "one\n") problems.push("a.txt is not what it was")
    const left = readdirSync(workspace.root).filter((name) => name !== "a.txt")
    if (left.length > 0) problems.push(`left in the workspace: ${left.join(", ")}`)
    expect(await host.call("write_file", { path: "b.txt", content: "small" }), "ok", problems)
  },

  "state directory full": async (workspace, problems) => {
    using _disk = smallDisk(workspace.state)
    await using host = await open(workspace)
    expect(await host.call("write_file", { path: "b.txt", content: "1" }), "ok", problems)
    const filler = fillUp(workspace.state)
    expect(await host.call("write_file", { path: "b.txt", content: "2" }), "any error", problems)
    if (workspace.read("b.txt") !== "1") problems.push("b.txt changed while nothing could be recorded")
    rmSync(filler)
    expect(await host.call("write_file", { path: "b.txt", content: "3" }), "ok", problems)
  },

  "state directory read-only": async (workspace, problems) => {
    using disk = smallDisk(workspace.state)
    disk.remount("ro")
    const refused = await open(workspace).catch((error: unknown) => error)
    if (!(refused instanceof Error)) {
      const host = refused as OpenHost
      expect(await host.call("write_file", { path: "b.txt", content: "2" }), "any error", problems)
      expect(await host.call("read_file", { path: "a.txt" }), "any error", problems)
      await host.dispose()
    } else if (!("code" in refused)) problems.push(`the host does not say why it can't open: ${inspect(refused)}`)
    if (workspace.exists("b.txt")) problems.push("b.txt was written while nothing could be recorded")
    disk.remount("rw")
    await using host = await open(workspace)
    expect(await host.call("write_file", { path: "b.txt", content: "3" }), "ok", problems)
  },

  "rules unreadable": async (workspace, problems) => {
    const rules = join(workspace.state, "rules.json")
    writeFileSync(rules, "{ not json")
    await using host = await open(workspace)
    expect(await host.call("write_file", { path: "b.txt", content: "2" }), "approval_denied", problems)
    expect(await host.call("read_file", { path: "a.txt" }), "approval_denied", problems)
    rmSync(rules)
    expect(await host.call("write_file", { path: "b.txt", content: "2" }), "ok", problems)
    mkdirSync(rules)
    expect(await host.call("read_file", { path: "a.txt" }), "approval_denied", problems)
    rmSync(rules, { recursive: true })
    expect(await host.call("read_file", { path: "a.txt" }), "ok", problems)
  },

  "ripgrep missing": async (workspace, problems) => {
    const program = join(workspace.outside, "rg")
    await using host = await open(workspace, { packages: { search: { ripgrep: program } } })
    expect(await host.call("search_text", { query: "one" }), "search_unavailable", problems)
    expect(await host.call("find_files", { pattern: "*.txt" }), "ok", problems)
    writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 })
    const reply = await host.call("search_text", { query: "nothing has this" })
    if (reply.error?.code === "search_unavailable") problems.push("ripgrep came back, and is still missing")
  },

  "sandbox missing": async (workspace, problems) => {
    // Host programs come from system directories, so a sandbox of another system is the one that is missing.
    const sandbox = process.platform === "darwin" ? "bubblewrap" : "seatbelt"
    {
      await using host = await open(workspace, { sandbox })
      expect(await host.call("run_command", { command: "touch made.txt" }), "sandbox_unavailable", problems)
      expect(await host.call("open_terminal", { command: "touch made.txt" }), "sandbox_unavailable", problems)
      if (workspace.exists("made.txt")) problems.push(`${sandbox}: the command ran all the same`)
    }
    await using host = await open(workspace, { sandbox: "auto" })
    expect(await host.call("run_command", { command: "touch made.txt" }), "ok", problems)
  },

  "clock going backwards": async (workspace, problems) => {
    const now = Date.now
    try {
      await using host = await open(workspace)
      for (const hours of [0, -1, -24 * 365, 24 * 365, 0]) {
        Date.now = () => now() + hours * 3_600_000
        const reply = await host.call("write_file", { path: "b.txt", content: String(hours) })
        expect(reply, "ok", problems)
        if (!(reply.durationMs >= 0 && reply.durationMs < 60_000)) problems.push(`it took ${reply.durationMs} ms`)
      }
    } finally {
      Date.now = now
    }
    const verdict = await verifyRun({ root: workspace.root, state: workspace.state })
    if (!inspect(verdict).includes("whole") && !inspect(verdict).includes("true")) problems.push(inspect(verdict))
  },

  "DNS failing": async (workspace, problems) => {
    const server = createServer((_, response) => response.end("hello"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    let resolve: (name: string) => Promise<ReadonlyArray<string>> = () => Promise.reject(new Error("EAI_AGAIN"))
    const resolver = Layer.succeed(Resolver, (name) => resolve(name))
    const web = { privateHosts: [`site.test:${port}`] }
    await using host = await open(workspace, { packages: { web } }, resolver)
    const url = `http://site.test:${port}/`
    expect(await host.call("fetch_url", { url }), "network_error", problems)
    resolve = async () => []
    expect(await host.call("fetch_url", { url }), "network_error", problems)
    resolve = async () => ["127.0.0.1"]
    expect(await host.call("fetch_url", { url }), "ok", problems)
    server.closeAllConnections()
    server.close()
  },

  "descriptors used up": async (workspace, problems) => {
    await using host = await open(workspace, { sandbox: "none" })
    expect(await host.call("run_command", { command: "true" }), "ok", problems)
    execFileSync("prlimit", [`--pid=${process.pid}`, "--nofile=1024:4096"])
    const calls: ReadonlyArray<readonly [string, object]> = [
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "a.txt", content: "two\n" }],
      ["list_dir", { path: "." }],
      ["find_files", { pattern: "*" }],
      ["search_text", { query: "one" }],
      ["run_command", { command: "true" }],
      ["open_terminal", { command: "true" }],
      ["fetch_url", { url: "https://example.invalid/" }],
      ["undo", {}]
    ]
    const held = useUpDescriptors()
    try {
      // One more free descriptor each time, so that calls fail in turn at every place that opens something.
      for (let free = 0; free < 12; free++) {
        for (const [tool, args] of calls) expect(await host.call(tool, args), "any outcome", problems)
        const one = held.pop()
        if (one !== undefined) closeSync(one)
      }
    } finally {
      for (const descriptor of held) closeSync(descriptor)
    }
    const content = workspace.read("a.txt")
    if (content !== "one\n" && content !== "two\n") problems.push(`a.txt is ${JSON.stringify(content)}`)
    const left = readdirSync(workspace.root).filter((name) => name !== "a.txt")
    if (left.length > 0) problems.push(`left in the workspace: ${left.join(", ")}`)
    for (const [tool, args] of calls.slice(0, 6)) expect(await host.call(tool, args), "ok", problems)
  },

  "workspace gone": async (workspace, problems) => {
    await using host = await open(workspace)
    renameSync(workspace.root, `${workspace.root}.away`)
    for (const [tool, args] of [
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "b.txt", content: "" }],
      ["list_dir", { path: "." }],
      ["search_text", { query: "one" }],
      ["run_command", { command: "true" }]
    ] as const) {
      expect(await host.call(tool, args), "any outcome", problems)
    }
    renameSync(`${workspace.root}.away`, workspace.root)
    expect(await host.call("read_file", { path: "a.txt" }), "ok", problems)
  }
}

const open = (
  { root, state }: TemporaryWorkspace,
  config: HaftConfig = {},
  more: Layer.Layer<never> = Layer.empty
): Promise<OpenHost> =>
  openHost(standardHost({ root, state, approval: "all", sandbox: "auto", ...config }).pipe(Layer.provide(more)))

/** How a call must end: `ok`, a code, `any error` or `any outcome`. These two allow everything but a bug. */
const expect = ({ ok, error }: Reply, wanted: string, problems: Array<string>): void => {
  const outcome: string = ok ? "ok" : (error?.code ?? "no code")
  const isBug = outcome === "internal_error" || outcome === "no code"
  const isWanted = wanted === "any outcome" || (wanted === "any error" && !ok)
  if (outcome === wanted || (isWanted && !isBug)) return
  problems.push(`${outcome} (${error?.message ?? ""}), not ${wanted}\n${callerOf()}`)
}

const callerOf = (): string => (new Error().stack ?? "").split("\n")[3]?.trim() ?? ""

/** Mounts a file system of half a megabyte over a directory. */
const smallDisk = (directory: string) => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", directory])
  return {
    remount: (mode: "ro" | "rw") => execFileSync("mount", ["-o", `remount,${mode}`, directory]),
    [Symbol.dispose]: () => execFileSync("umount", ["--lazy", directory])
  }
}

const fillUp = (directory: string): string => {
  const filler = join(directory, "filler")
  for (let size = 512; size > 0; size -= 4) {
    try {
      writeFileSync(filler, "x".repeat(size * 1024))
      break
    } catch {
      rmSync(filler, { force: true })
    }
  }
  try {
    for (;;) writeFileSync(filler, "x".repeat(512), { flag: "a" })
  } catch {
    return filler
  }
}

const useUpDescriptors = (): Array<number> => {
  const held: Array<number> = []
  try {
    for (;;) held.push(openSync("/dev/null", "r"))
  } catch {
    return held
  }
}
