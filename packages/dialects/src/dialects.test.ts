import { describe, expect, it } from "@effect/vitest"
import {
  definePlugin,
  defineTool,
  denyAll,
  type ErrorCode,
  errorCodes,
  type FinishedCall,
  makeHost,
  makeToolError,
  memoryJournal,
  memoryWorkspace,
  type Risk,
  type ToolError,
  use
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "./index.ts"

const finished: FinishedCall = {
  call: { id: "r1", step: 1, tool: "read_file", dialect: "x", startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6) },
  endedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 18),
  durationMs: 12.4,
  writes: [],
  adjusted: []
}
const succeeded = (output: Record<string, unknown>, isForeign = false) => ({
  ...finished,
  output,
  text: "text",
  isForeign
})
const failed = (
  errorName: string,
  error: ToolError = makeToolError("file_not_found", "gone", { details: { path: "a" } })
) => ({
  ...finished,
  error,
  errorName
})

const contracts = [haft, agentbench, toolrouter, approvalgate, cliagent, filetools]

describe("every dialect", () => {
  it.each(contracts)("$name has a word for every code", ({ errorNames }) => {
    expect(Object.keys(errorNames).toSorted()).toEqual(errorCodes.toSorted())
    expect(Object.values(errorNames)).not.toContain("")
  })
})

describe("what to do about a failure", () => {
  it.each(contracts)("stands in the words of $name", ({ failure }) => {
    const error = makeToolError("file_not_found", "gone", { suggestion: "Look elsewhere." })
    expect(JSON.stringify(failure(failed("file_not_found", error)))).toContain("Look elsewhere.")
  })

  it("follows what is wrong, on a line of its own where that has several", () => {
    const message = (text: string) =>
      toolrouter.failure(failed("x", makeToolError("file_not_found", text, { suggestion: "Look elsewhere." })))
    expect(message("gone")).toEqual({ error: "x", message: "gone. Look elsewhere." })
    expect(message("gone:\n- a")).toEqual({ error: "x", message: "gone:\n- a\nLook elsewhere." })
  })
})

describe("the published schema", () => {
  const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
  const forCliagent = {
    type: "object",
    properties: { output: { type: "string" }, files_affected: { type: "array" }, metadata: output }
  }

  it.each(contracts)("of $name admits a success and a failure, and nothing else", (dialect) => {
    const own = dialect.name === "cliagent" ? forCliagent : output
    const envelope = z.fromJSONSchema(dialect.envelope(own))
    const result = dialect.name === "cliagent" ? { output: "x", files_affected: [], metadata: { n: 1 } } : { n: 1 }
    expect(envelope.safeParse(dialect.success(succeeded(result))).success).toBe(true)
    expect(envelope.safeParse(dialect.failure(failed("some_error"))).success).toBe(true)
    expect(envelope.safeParse({ n: "one" }).success).toBe(false)
  })

  it("of cliagent carries a foreign tool's output as metadata", () => {
    const envelope = z.fromJSONSchema(cliagent.envelope(output))
    expect(envelope.safeParse(cliagent.success(succeeded({ n: 1 }, true))).success).toBe(true)
    expect(envelope.safeParse(cliagent.success(succeeded({ n: "one" }, true))).success).toBe(false)
  })
})

describe("what a dialect asks about by itself", () => {
  const asked = (asks: (risk: Risk) => boolean) => (["read_only", "safe_write", "dangerous"] as const).filter(asks)

  it("is every change, but for agentbench, which trusts its sandbox, and approvalgate, whose tools decide", () => {
    expect(Object.fromEntries(contracts.map(({ name, asks }) => [name, asked(asks)]))).toEqual({
      haft: ["safe_write", "dangerous"],
      agentbench: [],
      toolrouter: ["safe_write", "dangerous"],
      approvalgate: ["dangerous"],
      cliagent: ["safe_write", "dangerous"],
      filetools: ["safe_write", "dangerous"]
    })
  })
})

describe("cliagent's own words", () => {
  it.each([
    ["path_outside_workspace", "Path '../a' is outside working directory"],
    ["symlink_blocked", "Path '../a' is outside working directory"],
    ["file_not_found", "File '../a' not found"]
  ] as const)("for %s are the contract's", (code, message) => {
    const reword = cliagent.wording?.[code] as ((error: ToolError, input: object) => string) | undefined
    expect(reword?.(makeToolError(code, "x", { details: { path: "../a" } }), {})).toBe(message)
  })
})

describe("error names", () => {
  const renamed = (names: Readonly<Record<ErrorCode, string>>) =>
    Object.fromEntries(Object.entries(names).filter(([code, name]) => code !== name && code.toUpperCase() !== name))

  it("are the engine's in haft and toolrouter", () => {
    expect(renamed(haft.errorNames)).toEqual({})
    expect(renamed(toolrouter.errorNames)).toEqual({})
  })

  it("differ where the other contracts say so, and nowhere else", () => {
    expect(renamed(agentbench.errorNames)).toEqual({
      path_outside_workspace: "path_escape",
      patch_hunk_failed: "patch_hunk_fail",
      already_applied: "patch_hunk_fail",
      invalid_pattern: "ripgrep_error",
      search_unavailable: "ripgrep_unavailable",
      search_failed: "ripgrep_error",
      command_failed: "abnormal_exit",
      command_not_found: "abnormal_exit",
      sandbox_unavailable: "sandbox_error"
    })
    expect(renamed(approvalgate.errorNames)).toEqual({
      path_outside_workspace: "INVALID_PATH",
      symlink_blocked: "INVALID_PATH",
      command_failed: "EXECUTION_ERROR",
      command_not_found: "EXECUTION_ERROR",
      sandbox_unavailable: "EXECUTION_ERROR",
      sandbox_error: "EXECUTION_ERROR"
    })
    expect(renamed(cliagent.errorNames)).toEqual({
      path_outside_workspace: "path_outside_working_dir",
      symlink_blocked: "path_outside_working_dir",
      match_not_found: "string_not_found"
    })
    expect(renamed(filetools.errorNames)).toEqual({
      symlink_blocked: "path_outside_workspace",
      match_not_found: "find_not_found",
      match_not_unique: "find_not_unique",
      search_unavailable: "ripgrep_not_found"
    })
  })
})

describe("agentbench", () => {
  it("has every field of a result, always", () => {
    expect(agentbench.success(succeeded({ files: ["a"] }))).toEqual({
      request_id: "r1",
      tool: "read_file",
      status: "success",
      started_at: "2026-01-02T03:04:05.006Z",
      ended_at: "2026-01-02T03:04:05.018Z",
      duration_sec: 0.0124,
      data: { files: ["a"] },
      error: null,
      exit_code: null,
      stdout_path: null,
      stderr_path: null
    })
  })

  it("shows a command's result at the top too, also when it failed", () => {
    const output = { exit_code: 3, stdout_path: "logs/o", stderr_path: "logs/e" }
    const wire = { exit_code: 3, stdout_path: "logs/o", stderr_path: "logs/e", data: output }
    expect(agentbench.success(succeeded(output))).toMatchObject(wire)
    expect(agentbench.failure(failed("abnormal_exit", makeToolError("command_failed", "3", { output })))).toMatchObject(
      {
        ...wire,
        status: "error",
        error: { error_type: "abnormal_exit", message: "3", details: null }
      }
    )
  })
})

describe("toolrouter", () => {
  it("answers with the object itself, or error and message", () => {
    expect(toolrouter.success(succeeded({ text: "x" }))).toEqual({ text: "x" })
    expect(toolrouter.failure(failed("file_not_found"))).toEqual({ error: "file_not_found", message: "gone" })
  })

  it("publishes every parameter as required, with titles", () => {
    const schema = {
      type: "object",
      properties: { patch: { type: "string" }, timeout_ms: { type: "integer", default: 5 } },
      required: ["patch"]
    }
    expect(toolrouter.publishInput?.(schema, { name: "apply_patch_json", dialect: "toolrouter" })).toEqual({
      title: "ApplyPatchInput",
      type: "object",
      properties: {
        patch: { title: "Patch", type: "string" },
        timeout_ms: { title: "Timeout Ms", type: "integer", default: 5 }
      },
      required: ["patch", "timeout_ms"],
      additionalProperties: false
    })
  })
})

describe("approvalgate", () => {
  it("wraps value and error", () => {
    expect(approvalgate.success(succeeded({ size: 1 }))).toEqual({ ok: true, value: { size: 1 } })
    expect(approvalgate.failure(failed("FILE_NOT_FOUND"))).toEqual({
      ok: false,
      error: { code: "FILE_NOT_FOUND", message: "gone", details: { path: "a" } }
    })
  })
})

describe("cliagent", () => {
  it("carries a line for people, the files and the facts", () => {
    const output = { output: "Created file: a (1 bytes)", files_affected: ["a"], metadata: { n: 1 } }
    expect(cliagent.success(succeeded(output))).toEqual({ success: true, ...output, execution_time_ms: 12 })
    expect(cliagent.failure(failed("file_not_found"))).toEqual({
      success: false,
      output: "Error: gone",
      files_affected: [],
      execution_time_ms: 12,
      error: { code: "file_not_found", message: "gone", suggestion: "" }
    })
  })

  it("dresses the answer of a tool that follows no contract", () => {
    expect(cliagent.success({ ...succeeded({ n: 1 }, true), writes: ["a"] })).toEqual({
      success: true,
      output: "text",
      files_affected: ["a"],
      execution_time_ms: 12,
      metadata: { n: 1 }
    })
  })

  it("prints the tool's name first", () => {
    expect(Object.keys(cliagent.print?.("read_file", { success: true }) as object)).toEqual(["tool", "success"])
  })
})

describe("filetools", () => {
  it("calls a write without permission a failed write, and a read by its name", () => {
    const error = makeToolError("permission_denied", "no")
    expect(filetools.failure({ ...failed("permission_denied", error), writes: ["a"] })).toMatchObject({
      error: "write_failed"
    })
    expect(filetools.failure(failed("permission_denied", error))).toMatchObject({ error: "permission_denied" })
  })
})

describe("haft", () => {
  it("tells all it knows of a failure, and what was produced all the same", () => {
    const error = makeToolError("command_failed", "exit 1", { suggestion: "Look.", retryable: true, output: { n: 1 } })
    expect(haft.failure(failed("command_failed", error))).toEqual({
      ok: false,
      error: { code: "command_failed", message: "exit 1", suggestion: "Look.", retryable: true },
      result: { n: 1 }
    })
    expect(haft.success(succeeded({ n: 1 }))).toEqual({ ok: true, result: { n: 1 } })
  })
})

it.effect.each([haft, agentbench, toolrouter, approvalgate, cliagent, filetools])(
  "only haft takes arguments that do not fit but can mean one thing, and says so (%#)",
  (dialect) =>
    Effect.gen(function* () {
      const count = defineTool({
        name: "count",
        description: "Counts.",
        input: z.strictObject({ to: z.number(), by: z.number().optional() }),
        output: z.object({ last: z.number() }),
        risk: "read_only",
        execute: ({ to }) => Effect.succeed({ last: to })
      })
      const plugin = use(definePlugin({ name: "counting", version: "1.0.0", tools: [count] }))
      const host = yield* makeHost({ dialect, plugins: [plugin] })
      const { ok, adjusted, wire } = yield* host.call(
        "count",
        JSON.parse('{ "to": "3", "by": null }') as { to: number }
      )
      expect(ok).toBe(dialect === haft)
      expect(adjusted).toHaveLength(ok ? 2 : 0)
      if (ok) expect(wire).toMatchObject({ ok: true, result: { last: 3 }, adjusted })
    }).pipe(Effect.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)))
)
