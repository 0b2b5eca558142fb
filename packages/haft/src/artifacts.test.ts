import { describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"

import type { HaftConfig } from "./internal.ts"
import { openHost } from "./promise.ts"

const open = async (config: HaftConfig = {}) => {
  const workspace = temporaryWorkspace({})
  const opening = () =>
    openHost({ root: workspace.root, state: workspace.state, approval: "all", sandbox: "none", ...config })
  const host = await opening()
  return { workspace, host, opening, [Symbol.asyncDispose]: () => host.dispose().then(workspace.remove) }
}

interface Result {
  readonly stdout_path: string
  readonly output_path: string
  readonly process_id: string
  readonly content: string
}

const resultOf = ({ wire }: { readonly wire: unknown }): Result => (wire as { readonly result: Result }).result

const lines = "seq 1 40000"

describe("artifacts as files of tools", () => {
  it("are named by a long reply, read by range and from the end, and searched", async () => {
    await using opened = await open()
    const { host } = opened
    const reply = await host.call("run_command", { command: lines })
    const { stdout_path: path } = resultOf(reply)
    expect(path).toMatch(/^artifact:[\w-]+\/logs\/tool_step_0001_stdout\.txt$/)
    expect(reply.blocks).toContainEqual({
      type: "resource_link",
      uri: path,
      name: "tool_step_0001_stdout.txt",
      mimeType: "text/plain"
    })
    expect(resultOf(await host.call("read_file", { path, start_line: 20_000, end_line: 20_001 }))).toMatchObject({
      path,
      content: "20000\n20001\n",
      total_lines: 40_000
    })
    expect(resultOf(await host.call("read_file", { path, start_line: -1 }))).toMatchObject({ content: "40000\n" })
    expect(resultOf(await host.call("search_text", { path, query: "^3999[89]$", context_lines: 1 }))).toMatchObject({
      total_matches: 2,
      matches: [
        { path, line: 39_998, content: "39998", context_before: ["39997"], context_after: ["39999"] },
        { path, line: 39_999 }
      ]
    })
    expect((await host.call("read_file", { path, start_line: 50_000 })).error?.code).toBe("invalid_range")
  })

  it("are not named by a reply that is complete", async () => {
    await using opened = await open()
    const reply = await opened.host.call("run_command", { command: "echo a" })
    expect(resultOf(reply)).not.toHaveProperty("stdout_path")
    expect(reply.blocks).toHaveLength(1)
  })

  it("keep all that a background process printed", async () => {
    await using opened = await open()
    const { host } = opened
    const started = await host.call("start_process", { command: lines, wait_ms: 10_000, max_bytes: 1000 })
    const { output_path: path } = resultOf(started)
    expect(path).toMatch(/^artifact:[\w-]+\/processes\/process-[0-9a-f]+\.log$/)
    expect(resultOf(await host.call("read_file", { path, start_line: 12_345, max_lines: 1 })).content).toBe("12345\n")
    await host.call("stop_process", { process_id: resultOf(started).process_id })
    expect(resultOf(await host.call("read_file", { path, start_line: -1 })).content).toBe("40000\n")
  })

  it("are refused to other callers, and last_command is one's own", async () => {
    await using opened = await open()
    const { host } = opened
    const one = { caller: { name: "one", role: "agent" } }
    const two = { caller: { name: "two", role: "agent" } }
    const { stdout_path: path } = resultOf(await host.call("run_command", { command: lines }, one))
    expect((await host.call("read_file", { path }, one)).ok).toBe(true)
    for (const caller of [two, {}]) {
      expect((await host.call("read_file", { path }, caller)).error?.code).toBe("file_not_found")
      expect((await host.call("search_text", { path, query: "1" }, caller)).error?.code).toBe("file_not_found")
      expect((await host.call("last_command", {}, caller)).error?.code).toBe("no_history")
    }
    expect((await host.call("last_command", {}, one)).ok).toBe(true)
  })

  it("outlive the host, and an address that leads nowhere fails", async () => {
    await using opened = await open()
    const { stdout_path: path } = resultOf(await opened.host.call("run_command", { command: lines }))
    await opened.host.dispose()
    await using again = await opened.opening()
    expect(resultOf(await again.call("read_file", { path, start_line: -1 })).content).toBe("40000\n")
    for (const bad of [`${path}x`, path.replace(/:[^/]+/, ":none"), path.replace("logs/", "contents/")]) {
      expect((await again.call("read_file", { path: bad })).error?.code).toBe("file_not_found")
    }
    for (const outside of ["artifact:../../etc/passwd", path.replace("logs/", "../")]) {
      expect((await again.call("read_file", { path: outside })).ok).toBe(false)
    }
  })

  it("are not changed by tools that write, and leave a workspace file of such a name reachable", async () => {
    await using opened = await open()
    const { host, workspace } = opened
    const { stdout_path: path } = resultOf(await host.call("run_command", { command: lines }))
    expect((await host.call("edit_file", { path, edits: [{ find: "40000", replace: "x" }] })).ok).toBe(false)
    workspace.put("artifact:r/notes.txt", "mine\n")
    expect(resultOf(await host.call("read_file", { path: "./artifact:r/notes.txt" })).content).toBe("mine\n")
  })
})
