import { Buffer } from "node:buffer"

import type { Reply } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { HostCallError, hostFiles } from "./host-files.ts"
import { leftOut, mediaIn } from "./media-blocks.ts"
import { legalNames } from "./tool-list/names.ts"
import { listedTools } from "./tool-list/shown-tools.ts"

type Options = Pick<PromiseCallOptions, "ask">

/** A tool as the Copilot SDK's `defineTool` makes it. */
export interface CopilotTool {
  name: string
  description: string
  parameters: Record<string, unknown>
  overridesBuiltInTool: boolean
  skipPermission: boolean
  handler: (
    args: unknown,
    invocation: { readonly toolCallId: string; readonly traceparent?: string; readonly signal?: AbortSignal }
  ) => Promise<CopilotToolResult>
}

/** Result of a tool, as the Copilot SDK's `ToolResultObject`. */
export interface CopilotToolResult {
  textResultForLlm: string
  binaryResultsForLlm?: Array<{ data: string; mimeType: string; type: "image" }>
  resultType: "success" | "failure"
}

/**
 * A host's tools for `client.createSession({ tools: copilotTools(host) })`. They take the place of built-in tools of the
 * same names; haft's rules decide about them, so the SDK asks for no permission.
 */
export const copilotTools = (host: Pick<OpenHost, "tools" | "call">, options: Options = {}): Array<CopilotTool> => {
  const { legal } = legalNames(host.tools.map(({ name }) => name))
  return listedTools(host).map((tool) => ({
    name: legal(tool.name),
    description: tool.description,
    parameters: { ...tool.inputSchema },
    overridesBuiltInTool: true,
    skipPermission: true,
    handler: async (args, { toolCallId, traceparent, signal }) => {
      const reply = await host.call(tool.name, args, {
        ...options,
        requestId: toolCallId,
        ...(traceparent !== undefined && { traceParent: traceparent }),
        ...(signal !== undefined && { signal })
      })
      return resultOf(reply)
    }
  }))
}

/** The SDK takes images beside the text; sounds are named in it. */
const resultOf = (reply: Reply): CopilotToolResult => {
  const media = mediaIn(reply)
  const sounds = media.filter(({ type }) => type === "audio").map(leftOut)
  const images = media
    .filter(({ type }) => type === "image")
    .map(({ data, mimeType }) => ({ data, mimeType, type: "image" as const }))
  return {
    textResultForLlm: [reply.text, ...sounds].join("\n"),
    ...(images.length > 0 && { binaryResultsForLlm: images }),
    resultType: reply.ok ? "success" : "failure"
  }
}

/** The Copilot SDK's `SessionFsProvider`, without a database. */
export interface CopilotSessionFs {
  readFile(path: string): Promise<string>
  writeFile(path: string, content: string): Promise<void>
  appendFile(path: string, content: string): Promise<void>
  exists(path: string): Promise<boolean>
  stat(path: string): Promise<CopilotFileInfo>
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<Array<string>>
  readdirWithTypes(path: string): Promise<Array<{ name: string; type: "file" | "directory" }>>
  rm(path: string, recursive: boolean, force: boolean): Promise<void>
  rename(from: string, to: string): Promise<void>
}

export interface CopilotFileInfo {
  isFile: boolean
  isDirectory: boolean
  size: number
  mtime: string
  birthtime: string
}

/** File system of a Copilot session in a host's workspace; the host speaks haft's own dialect. */
export const copilotSessionFs = (host: Pick<OpenHost, "call" | "dialect">, options: Options = {}): CopilotSessionFs => {
  const files = hostFiles(host, options)
  const read = async (path: string): Promise<string> => Buffer.from(await files.readBytes(path)).toString("utf8")
  const write = (path: string, content: string): Promise<void> => files.writeBytes(path, Buffer.from(content))
  return {
    readFile: (path) => withErrno(read(path)),
    writeFile: (path, content) => withErrno(write(path, content)),
    appendFile: (path, content) => withErrno(files.append(path, content)),
    exists: async (path) => (await files.stat(path)) !== undefined,
    stat: async (path) => {
      const found = await files.stat(path)
      if (found === undefined) throw notFound(path)
      const { kind, size, modified } = found
      return { isFile: kind === "file", isDirectory: kind === "directory", size, mtime: modified, birthtime: modified }
    },
    mkdir: (path) => withErrno(files.makeDirectory(path)),
    readdir: async (path) => (await withErrno(files.list(path))).map(({ name }) => name),
    readdirWithTypes: async (path) =>
      (await withErrno(files.list(path))).map(({ name, kind }) => ({
        name,
        type: kind === "directory" ? "directory" : "file"
      })),
    rm: async (path, recursive, force) => {
      if (force && (await files.stat(path)) === undefined) return
      await withErrno(files.remove(path, recursive))
    },
    // As rename(2): sessions save a file by renaming a temporary one over it.
    rename: (from, to) => withErrno(files.move(from, to, { overwrite: true }))
  }
}

/** The SDK knows a missing file by the code that Node has for it. */
const withErrno = async <A>(operation: Promise<A>): Promise<A> => {
  try {
    return await operation
  } catch (cause) {
    throw cause instanceof HostCallError && cause.code === "file_not_found" ? notFound(cause.message) : cause
  }
}

const notFound = (message: string): Error => Object.assign(new Error(`ENOENT: ${message}`), { code: "ENOENT" })
