import { type ChildProcess, spawn } from "node:child_process"
import { Agent, request } from "node:http"

/** Starts a server that prints JSON with its address. */
export const startHttpServer = async (args: ReadonlyArray<string>): Promise<{ url: string; server: ChildProcess }> => {
  const server = spawn(process.execPath, [...args], { stdio: ["ignore", "pipe", "inherit"] })
  process.once("exit", () => server.kill("SIGKILL"))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ""
    server.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      const [, found] = /"url":\s*"([^"]+)"/.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    server.once("exit", () => reject(new Error("the server ended")))
  })
  return { url, server }
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export interface HttpAnswer {
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Posts JSON over a connection that is kept. */
export const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const content = JSON.stringify(body)
    const length = String(Buffer.byteLength(content))
    const sent = request(
      url,
      { agent, method: "POST", headers: { "content-type": "application/json", "content-length": length, ...headers } },
      (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => (text += chunk.toString()))
        response.on("end", () => resolve({ text, headers: response.headers }))
        response.on("error", reject)
      }
    )
    sent.on("error", reject)
    sent.end(content)
  })
