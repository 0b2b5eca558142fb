import { Buffer } from "node:buffer"

import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from "ai"

import { absentIfMissing, type HostFiles, hostFiles } from "./host-files.ts"

type Session = Experimental_SandboxSession
type Signal = { readonly abortSignal?: AbortSignal }

/**
 * Sandbox session of the AI SDK on a host in haft's own dialect: `generateText({ experimental_sandbox: aiSdkSandbox(host) })`
 * makes tools such as `anthropic.tools.bash_20250124()` run on haft.
 */
export const aiSdkSandbox = (
  host: Pick<OpenHost, "call" | "dialect">,
  options: Pick<PromiseCallOptions, "ask"> = {}
): Session => {
  const files = hostFiles(host, options)
  const readBytes = async ({ path, abortSignal }: { readonly path: string } & Signal): Promise<Uint8Array | null> =>
    (await absentIfMissing(files.readBytes(path, signalOf(abortSignal)))) ?? null
  const writeBytes = (path: string, content: Uint8Array, { abortSignal }: Signal): Promise<void> =>
    files.writeBytes(path, content, signalOf(abortSignal))
  return {
    description:
      "Workspace and sandbox of haft: commands run in the workspace, and every call is approved and recorded.",
    readBinaryFile: readBytes,
    readFile: async (request) => {
      const bytes = await readBytes(request)
      return bytes === null ? null : new Blob([Buffer.from(bytes)]).stream()
    },
    readTextFile: async ({ encoding = "utf-8", startLine, endLine, ...request }) => {
      const bytes = await readBytes(request)
      if (bytes === null) return null
      const text = new TextDecoder(encoding).decode(bytes)
      if (startLine === undefined && endLine === undefined) return text
      return text
        .split("\n")
        .slice((startLine ?? 1) - 1, endLine)
        .join("\n")
    },
    writeBinaryFile: ({ path, content, ...signal }) => writeBytes(path, content, signal),
    writeFile: async ({ path, content, ...signal }) =>
      writeBytes(path, new Uint8Array(await new Response(content).arrayBuffer()), signal),
    writeTextFile: ({ path, content, encoding = "utf-8", ...signal }) =>
      writeBytes(path, Buffer.from(content, encoding as BufferEncoding), signal),
    stat: async ({ path, abortSignal }) => {
      const found = await files.stat(path, signalOf(abortSignal))
      if (found === undefined) return null
      return { type: found.kind === "symlink" ? "other" : found.kind, size: found.size }
    },
    listDirectory: async ({ path, abortSignal }) => {
      const entries = await absentIfMissing(files.list(path, signalOf(abortSignal)))
      return entries?.map(({ name, kind }) => ({ name, type: kind })) ?? null
    },
    deleteFile: async ({ path, abortSignal }) =>
      (await absentIfMissing(files.remove(path, false, signalOf(abortSignal)).then(() => true))) ?? false,
    run: async ({ command, workingDirectory, env, abortSignal }) => {
      const ran = await files.run({ command, directory: workingDirectory, env }, signalOf(abortSignal))
      return { exitCode: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr }
    },
    spawn: (request: SpawnRequest) => spawn(files, request)
  }
}

const signalOf = (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal }

type SpawnRequest = Parameters<Session["run"]>[0] & { readonly stdin?: boolean }

/** Where standard input is asked for, {@link spawn} fails. */
type ProcessWithoutStdin = Experimental_SandboxProcess & { readonly stdin: never }

/** Output of a background process, as the host reports it. */
interface Report {
  readonly process_id: string
  readonly state: "running" | "ended"
  readonly exit_code: number | null
  readonly output: string
  readonly cursor: number
}

/** Bytes of output that one reading returns at most. The middle of more is left out, with a note in its place. */
const readingBytes = 1_000_000

/** A background process. The host has both of its streams in order of arrival, in `stdout`. */
const spawn = async (
  { call }: HostFiles,
  { command, workingDirectory = ".", env = {}, abortSignal, stdin }: SpawnRequest
): Promise<ProcessWithoutStdin> => {
  if (stdin === true) throw new TypeError("processes get no standard input here")
  const args = { command, cwd: workingDirectory, env, wait_ms: 0 }
  const { process_id } = await call<Report>("start_process", args, signalOf(abortSignal))
  const kill = async (): Promise<void> => void (await call("stop_process", { process_id }))
  const killQuietly = (): void => void kill().catch(() => undefined)
  if (abortSignal?.aborted === true) killQuietly()
  else abortSignal?.addEventListener("abort", killQuietly, { once: true })
  let read: Pick<Report, "state" | "cursor"> = { state: "running", cursor: 0 }
  const stdout = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      while (read.state === "running") {
        const { cursor } = read
        const report = await call<Report>("read_output", { process_id, cursor, max_bytes: readingBytes })
        read = report
        if (report.output !== "") return controller.enqueue(Buffer.from(report.output))
        if (report.state === "running") await call("wait_for", { process_id, pattern: ".", from: report.cursor })
      }
      controller.close()
    }
  })
  // A process ends without a reader of its output, too.
  const exit = async (): Promise<{ exitCode: number }> => {
    for (;;) {
      const { state, exit_code } = await call<Report>("wait_for", { process_id })
      if (state === "ended") return { exitCode: exit_code ?? 1 }
    }
  }
  const process: Experimental_SandboxProcess = { stdout, stderr: new Blob([]).stream(), wait: exit, kill }
  return process as ProcessWithoutStdin
}
