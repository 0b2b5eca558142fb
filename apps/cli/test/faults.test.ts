import { execFile } from "node:child_process"
import { join } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { bin, type Ended, haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n", "below/b.txt": "two\n" })
})
afterEach(() => workspace.remove())

/** A configuration with a plugin whose one tool does what `body` says. */
const withTool = (body: string): string => `
import { definePlugin, defineTool } from "haft/promise"
import * as z from "${import.meta.resolve("zod")}"
const odd = defineTool({
  name: "odd",
  description: "Is odd.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  execute: async () => { ${body} }
})
export default { plugins: [definePlugin({ name: "odd", version: "1.0.0", tools: [odd] })] }
`

const callOdd = (body: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  workspace.put("../odd.config.mjs", withTool(body))
  return haft(["call", "odd", "--config", join(workspace.root, "../odd.config.mjs"), ...placeOf(workspace)], { env })
}

/** Runs a shell script, which starts the program in an awkward place. */
const inShell = (script: string): Promise<Ended> =>
  new Promise((resolve) => {
    const { root, state } = workspace
    const variables = { NODE: process.execPath, HAFT: bin, ROOT: root, XDG_STATE_HOME: state }
    execFile("sh", ["-c", script], { env: { ...process.env, ...variables } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    )
  })

const throwLater = "setTimeout(() => { throw new Error('boom') }, 1); await new Promise(() => {})"

describe("a fault that nobody expected", () => {
  it("is printed in a line, and ends the program with exit code 2", async () => {
    expect(await callOdd(throwLater)).toEqual({
      code: 2,
      stdout: "",
      stderr: "haft: internal error: boom\n  This is a bug in haft or in a plugin. HAFT_DEBUG=1 shows the stack.\n"
    })
  })

  it("is shown with its stack when HAFT_DEBUG is set", async () => {
    const { stderr } = await callOdd(throwLater, { HAFT_DEBUG: "1" })
    expect(stderr).toMatch(/boom\n[^]*odd\.config\.mjs/)
  })

  it("does not end a call when it is only an unhandled rejection", async () => {
    const body = "void Promise.reject(new Error('boom')); await new Promise((go) => setTimeout(go, 5)); return {}"
    const { code, stderr } = await callOdd(body)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/boom\n[^\n]*HAFT_DEBUG[^\n]*\n$/) })
  })

  it("is not what a missing current directory is called", async () => {
    const { code, stderr } = await inShell(
      'mkdir "$ROOT/d" && cd "$ROOT/d" && rmdir "$ROOT/d" && "$NODE" "$HAFT" tools'
    )
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "haft: the current directory is gone\n  Go to one that is there.\n"
    })
  })

  it.skipIf(process.platform !== "linux").each(["tools --profile all", "tools --json", "call read_file path=a.txt"])(
    "is not what a full disk is called, when %s prints to it (not on this platform)",
    async (command) => {
      const { code, stderr } = await inShell(`cd "$ROOT" && "$NODE" "$HAFT" ${command} > /dev/full`)
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^haft: not all of the output could be written: ENOSPC[^\n]*\n$/)
      })
    }
  )

  it("is not what a reader causes that closes the pipe early, as head does", async () => {
    const { code, stdout, stderr } = await inShell('cd "$ROOT" && "$NODE" "$HAFT" tools --json | head -1')
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "[\n", stderr: "" })
  })
})
