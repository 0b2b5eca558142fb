import { anthropic } from "@ai-sdk/anthropic"
import { aiSdkSandbox } from "@haft/adapters/ai-sdk"
import { temporaryWorkspace } from "@haft/testing"
import { generateText, stepCountIs } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { expect, it } from "vitest"

import { openHost } from "../promise.ts"

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

const opened = async (files: Parameters<typeof temporaryWorkspace>[0]) => {
  const workspace = temporaryWorkspace(files)
  const { root, state } = workspace
  const host = await openHost({ root, state, sandbox: "none", approval: "all" })
  return { workspace, host, [Symbol.asyncDispose]: () => host.dispose().finally(workspace.remove) }
}

it("Anthropic's bash tool of the AI SDK runs in haft's sandbox session", async () => {
  await using one = await opened({ "a.txt": "one\n" })
  const turns = [
    [{ type: "tool-call", toolCallId: "1", toolName: "bash", input: '{"command":"cat a.txt; echo e >&2; exit 3"}' }],
    [{ type: "text", text: "done" }]
  ]
  const model = new MockLanguageModelV4({
    doGenerate: (async () => {
      const content = turns.shift()
      return { content, finishReason: { unified: turns.length > 0 ? "tool-calls" : "stop" }, usage, warnings: [] }
    }) as never
  })
  const { steps, text } = await generateText({
    model,
    prompt: "go",
    stopWhen: stepCountIs(3),
    tools: { bash: anthropic.tools.bash_20250124() },
    experimental_sandbox: aiSdkSandbox(one.host)
  })
  expect(text).toBe("done")
  expect(steps[0]?.toolResults[0]?.output).toEqual({ exitCode: 3, stdout: "one\n", stderr: "e\n" })
})

it("a sandbox session reads, writes, lists and deletes in the workspace, with null for what is missing", async () => {
  await using one = await opened({ "a.txt": "one\ntwo\nthree\n", "d/b.txt": "b\n" })
  const sandbox = aiSdkSandbox(one.host)
  expect(await sandbox.readTextFile({ path: "a.txt", startLine: 2, endLine: 2 })).toBe("two")
  expect(await sandbox.readTextFile({ path: "nope" })).toBeNull()
  expect(await new Response(await sandbox.readFile({ path: "d/b.txt" })).text()).toBe("b\n")
  expect(await sandbox.readFile({ path: "nope" })).toBeNull()
  await sandbox.writeTextFile({ path: "n/t.txt", content: "é", encoding: "latin1" })
  expect(await sandbox.readBinaryFile({ path: "n/t.txt" })).toEqual(Buffer.from([0xe9]))
  await sandbox.writeFile({ path: "n/s.txt", content: new Blob(["stream"]).stream() })
  await sandbox.writeBinaryFile({ path: "n/x.bin", content: new Uint8Array([1, 2]) })
  expect(await sandbox.listDirectory({ path: "n" })).toEqual([
    { name: "s.txt", type: "file" },
    { name: "t.txt", type: "file" },
    { name: "x.bin", type: "file" }
  ])
  expect(await sandbox.listDirectory({ path: "nope" })).toBeNull()
  expect(await sandbox.stat({ path: "n/x.bin" })).toEqual({ type: "file", size: 2 })
  expect(await sandbox.stat({ path: `${one.workspace.root}/d` })).toMatchObject({ type: "directory" })
  expect(await sandbox.stat({ path: "." })).toMatchObject({ type: "directory" })
  expect(await sandbox.stat({ path: "nope/x" })).toBeNull()
  expect([await sandbox.deleteFile({ path: "a.txt" }), await sandbox.deleteFile({ path: "a.txt" })]).toEqual([
    true,
    false
  ])
  await expect(sandbox.readTextFile({ path: "../x" })).rejects.toMatchObject({ code: "path_outside_workspace" })
})

it("a spawned process streams what it prints, and can be killed", async () => {
  await using one = await opened({})
  const sandbox = aiSdkSandbox(one.host)
  const child = await sandbox.spawn({ command: "echo a; sleep 0.3; echo b; exit 4" })
  expect(await new Response(child.stdout).text()).toBe("a\nb\n")
  expect(await child.wait()).toEqual({ exitCode: 4 })
  const endless = await sandbox.spawn({ command: "sleep 600" })
  await endless.kill()
  expect(await new Response(endless.stdout).text()).toBe("")
  await expect(sandbox.spawn({ command: "cat", stdin: true })).rejects.toThrow("no standard input")
})

it("a spawned process ends without a reader of its output, which is not shortened", async () => {
  await using one = await opened({})
  const sandbox = aiSdkSandbox(one.host)
  const unread = await sandbox.spawn({ command: "echo a; sleep 0.1; echo b; sleep 0.1; echo c; exit 4" })
  expect(await unread.wait()).toEqual({ exitCode: 4 })
  expect(await new Response(unread.stdout).text()).toBe("a\nb\nc\n")
  const cancelled = await sandbox.spawn({ command: "echo a; exit 5" })
  await cancelled.stdout.cancel()
  expect(await cancelled.wait()).toEqual({ exitCode: 5 })
  const long = await sandbox.spawn({ command: "head -c 300000 /dev/zero | tr '\\0' x" })
  expect(await new Response(long.stdout).text()).toHaveLength(300_000)
})

it("a spawned process ends when its signal is aborted, and does not start after that", async () => {
  await using one = await opened({})
  const sandbox = aiSdkSandbox(one.host)
  const controller = new AbortController()
  const endless = await sandbox.spawn({ command: "sleep 600", abortSignal: controller.signal })
  controller.abort()
  expect(await endless.wait()).toEqual({ exitCode: 1 })
  const started = sandbox.spawn({ command: "touch late.txt", abortSignal: controller.signal })
  await expect(started).rejects.toThrow("aborted")
  expect(one.workspace.exists("late.txt")).toBe(false)
})
