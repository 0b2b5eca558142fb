import { spawn } from "node:child_process"
import { join } from "node:path"

export interface ServerApart {
  readonly url: string
  /** The agent's token. */
  readonly token: string
  readonly stop: () => void
}

/** Starts one of the servers of `serve.ts` in another process. */
export const startApart = async (kind: string, root: string, state: string): Promise<ServerApart> => {
  const program = join(import.meta.dirname, "serve.ts")
  const child = spawn(process.execPath, [...process.execArgv, program, kind, root, state], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once("exit", (code) => reject(new Error(`the ${kind} server ended with ${code} before it listened`)))
  })
  const [url = "", token = ""] = line.split(" ")
  return { url, token, stop: () => void child.stdin.end() }
}
