import { Buffer } from "node:buffer"
import { posix } from "node:path"

import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** Failure of a call that an interface reports by throwing. */
export class HostCallError extends Error {
  override readonly name = "HostCallError"
  /** The host's code, such as `file_not_found` or `approval_denied`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface HostEntry {
  readonly name: string
  readonly kind: "file" | "directory" | "symlink" | "other"
  readonly size: number
  /** ISO 8601. */
  readonly modified: string
}

export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  readonly durationMs: number
}

export interface HostCommand {
  readonly command: string
  readonly directory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
}

type Options = Pick<PromiseCallOptions, "ask" | "signal">

/** Files and commands of a host in haft's own dialect, as foreign interfaces want them. Every operation is a call. */
export interface HostFiles {
  readonly readBytes: (path: string, options?: Options) => Promise<Uint8Array>
  readonly writeBytes: (path: string, content: Uint8Array, options?: Options) => Promise<void>
  /** In the encoding of the file; without any text, nothing is done. */
  readonly append: (path: string, text: string, options?: Options) => Promise<void>
  readonly list: (path: string, options?: Options) => Promise<ReadonlyArray<HostEntry>>
  /** Undefined where nothing is. */
  readonly stat: (path: string, options?: Options) => Promise<Omit<HostEntry, "name"> | undefined>
  readonly remove: (path: string, recursive: boolean, options?: Options) => Promise<void>
  readonly move: (from: string, to: string, options?: Options & { readonly overwrite?: boolean }) => Promise<void>
  readonly makeDirectory: (path: string, options?: Options) => Promise<void>
  readonly run: (command: HostCommand, options?: Options) => Promise<CommandResult>
  /** Any tool's output; fails as the others do. */
  readonly call: <A>(tool: string, args: object, options?: Options) => Promise<A>
}

/** Calls of a host on behalf of one interface; `shared` goes with every call. */
export const hostFiles = (host: Pick<OpenHost, "call" | "dialect">, shared: Options = {}): HostFiles => {
  if (host.dialect.name !== "haft") {
    throw new TypeError(`the host must speak the dialect haft, not ${host.dialect.name}: open one without a dialect`)
  }
  const call = async <A>(tool: string, args: object, options: Options = {}): Promise<A> => {
    const reply = await host.call(tool, args, { ...shared, ...present(options) })
    if (reply.ok) return (reply.wire as { readonly result: A }).result
    throw new HostCallError(reply.error?.code ?? "internal_error", reply.text)
  }
  const list: HostFiles["list"] = async (path, options) => {
    const entries: Array<HostEntry> = []
    for (let page = 1; ; page++) {
      const listed = await call<Listing>("list_dir", { path, page }, options)
      entries.push(...listed.entries.map(({ path: name, kind, size, modified }) => ({ name, kind, size, modified })))
      if (!listed.more) return entries
    }
  }
  return {
    call,
    list,
    readBytes: async (path, options) => {
      const { content } = await call<{ content: string }>("read_file", { path, encoding: "base64" }, options)
      return Buffer.from(content, "base64")
    },
    writeBytes: async (path, content, options) => {
      await call("write_file", { path, content: Buffer.from(content).toString("base64"), encoding: "base64" }, options)
    },
    append: async (path, content, options) => {
      if (content !== "") await call("append_file", { path, content }, options)
    },
    stat: async (path, options) => {
      const { dir, base } = posix.parse(posix.normalize(path).replace(/(?<=.)\/$/, ""))
      if (base === "" || base === ".") return { kind: "directory", size: 0, modified: new Date(0).toISOString() }
      const entries = await absentIfMissing(list(dir === "" ? "." : dir, options))
      return entries?.find(({ name }) => name === base)
    },
    remove: async (path, recursive, options) => void (await call("delete_path", { path, recursive }, options)),
    move: async (from, to, { overwrite = false, ...options } = {}) =>
      void (await call("move_path", { from, to, overwrite }, options)),
    makeDirectory: async (path, options) => void (await call("create_directory", { path }, options)),
    run: async ({ command, directory = ".", env = {}, timeoutMs }, options) => {
      const args = { command, cwd: directory, env, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) }
      const result = await call<RunResult>("run_command", args, options)
      const { exit_code: exitCode, timed_out: timedOut, duration_ms: durationMs, stdout, stderr } = result
      return { exitCode, timedOut, durationMs, stdout, stderr }
    }
  }
}

/** Undefined in the place of a failure that says that nothing is there. */
export const absentIfMissing = async <A>(operation: Promise<A>): Promise<A | undefined> => {
  try {
    return await operation
  } catch (cause) {
    if (cause instanceof HostCallError && isMissing(cause)) return undefined
    throw cause
  }
}

const isMissing = ({ code }: HostCallError): boolean => code === "file_not_found" || code === "not_a_directory"

interface Listing {
  readonly entries: ReadonlyArray<{ readonly path: string } & Omit<HostEntry, "name">>
  readonly more: boolean
}

interface RunResult {
  readonly exit_code: number
  readonly timed_out: boolean
  readonly duration_ms: number
  readonly stdout: string
  readonly stderr: string
}

const present = ({ ask, signal }: Options): Options => ({
  ...(ask !== undefined && { ask }),
  ...(signal !== undefined && { signal })
})
