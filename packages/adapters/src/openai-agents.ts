import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import type { ApplyPatchOperation, ApplyPatchResult, Editor, Shell, ShellResult } from "@openai/agents-core"
import { Manifest, type SandboxSession } from "@openai/agents-core/sandbox"

import { absentIfMissing, hostFiles } from "./host-files.ts"

type Options = Pick<PromiseCallOptions, "ask">
type CallingHost = Pick<OpenHost, "call" | "dialect">

/** `shellTool({ shell: agentsShell(host) })`, on a host in the dialect `openai`. */
export const agentsShell = (host: CallingHost, options: Options = {}): Shell => ({
  run: async ({ commands, timeoutMs, maxOutputLength }) => {
    const args = { commands, timeout_ms: timeoutMs ?? null, max_output_length: maxOutputLength ?? null }
    const { wire } = await host.call("shell", args, options)
    const { output } = wire as { readonly output: ReadonlyArray<WireOutput> }
    return {
      output: output.map(({ stdout, stderr, outcome }) => ({
        stdout,
        stderr,
        outcome: outcome.type === "exit" ? { type: "exit", exitCode: outcome.exit_code } : outcome
      })),
      ...(maxOutputLength !== undefined && { maxOutputLength })
    } satisfies ShellResult
  }
})

interface WireOutput {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: "exit"; readonly exit_code: number } | { readonly type: "timeout" }
}

/** `applyPatchTool({ editor: agentsEditor(host) })`, on a host in the dialect `openai`. */
export const agentsEditor = (host: CallingHost, options: Options = {}): Editor => {
  const apply = async (operation: ApplyPatchOperation): Promise<ApplyPatchResult> => {
    const { type, path } = operation
    const diff = "diff" in operation ? { diff: operation.diff } : {}
    const { wire } = await host.call("apply_patch", { operation: { type, path, ...diff } }, options)
    const { status, output } = wire as Required<ApplyPatchResult>
    return { status, output }
  }
  return { createFile: apply, updateFile: apply, deleteFile: apply }
}

/** True where the host's policy asks about a call: `needsApproval` of a tool, with the call approved in `ask`. */
export const asksAbout = async (host: Pick<OpenHost, "preview">, tool: string, args: unknown): Promise<boolean> => {
  // A call that can't be previewed, for example by malformed arguments, is refused by the call itself.
  const preview = await host.preview(tool, args).catch(() => undefined)
  return preview?.verdict.decision === "ask"
}

/**
 * Sandbox session of OpenAI's agents on a host in haft's own dialect: its workspace, which is at `root`, and commands in
 * its sandbox.
 */
export const agentsSandboxSession = (
  host: CallingHost,
  { root, ...options }: Options & { readonly root: string }
): SandboxSession => {
  const files = hostFiles(host, options)
  const kindOf = async (path: string) => (await files.stat(path))?.kind
  const exec: NonNullable<SandboxSession["exec"]> = async ({ cmd, workdir }) => {
    const { stdout, stderr, exitCode, durationMs } = await files.run({ command: cmd, directory: workdir })
    return { output: `${stdout}${stderr}`, stdout, stderr, exitCode, wallTimeSeconds: durationMs / 1000 }
  }
  return {
    state: { manifest: new Manifest({ root }), workspaceReady: true },
    exec,
    execCommand: async (args) => {
      const { output, exitCode } = await exec(args)
      return exitCode === 0 ? output : `${output}\n(exit code ${exitCode})`
    },
    readFile: async ({ path, maxBytes }) => (await files.readBytes(path)).subarray(0, maxBytes),
    listDir: async ({ path }) =>
      (await files.list(path)).map(({ name, kind }) => ({
        name,
        path: `${path}/${name}`,
        type: kind === "directory" ? "dir" : kind === "file" ? "file" : "other"
      })),
    pathExists: async (path) => (await absentIfMissing(kindOf(path))) !== undefined,
    directoryExists: async (path) => (await absentIfMissing(kindOf(path))) === "directory",
    createEditor: () => envelopeEditor(files),
    supportsPty: () => false,
    running: () => Promise.resolve(true)
  }
}

/** Editor on `apply_patch` of haft's own dialect, which takes whole patches. */
const envelopeEditor = ({ call }: ReturnType<typeof hostFiles>): Editor => {
  const apply = async (operation: ApplyPatchOperation): Promise<ApplyPatchResult> => {
    if (/[\r\n]/.test(operation.path)) return { status: "failed", output: "a path can't have line breaks" }
    const diff = "diff" in operation ? `${operation.diff.replace(/\n$/, "")}\n` : ""
    const patch = `*** Begin Patch\n*** ${headers[operation.type]} File: ${operation.path}\n${diff}*** End Patch`
    try {
      await call("apply_patch", { patch })
      return { status: "completed" }
    } catch (cause) {
      return { status: "failed", output: (cause as Error).message }
    }
  }
  return { createFile: apply, updateFile: apply, deleteFile: apply }
}

const headers = { create_file: "Add", update_file: "Update", delete_file: "Delete" } as const
