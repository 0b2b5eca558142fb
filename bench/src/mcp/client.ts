import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface ToolCall {
  readonly name: string
  readonly arguments: unknown
}

/** A client of MCP on stdio that does as little as possible, and the same for every server. */
export class McpClient {
  readonly #server: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #ended: Promise<unknown>
  #errors = ""
  #last = 0

  private constructor({ command, args, env }: Program) {
    this.#server = spawn(command, [...args], { env: { ...process.env, ...env }, stdio: "pipe" })
    this.#ended = new Promise((resolve) => this.#server.once("exit", resolve))
    this.#server.on("error", (error) => (this.#errors += error.message))
    this.#server.stdin.on("error", () => {})
    this.#server.stderr.on("data", (chunk: Buffer) => (this.#errors = (this.#errors + chunk.toString()).slice(-2000)))
    createInterface({ input: this.#server.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) return
      const answer = JSON.parse(line) as Answer
      const resume = this.#waiting.get(Number(answer.id))
      this.#waiting.delete(Number(answer.id))
      resume?.(answer)
    })
  }

  /** Starts a server and does the handshake. */
  static async open(program: Program): Promise<McpClient> {
    const client = new McpClient(program)
    const clientInfo = { name: "bench", version: "1.0.0" }
    await client.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    client.#send({ jsonrpc: "2.0", method: "notifications/initialized" })
    return client
  }

  get pid(): number {
    return this.#server.pid ?? 0
  }

  async request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#last
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve))
    this.#send({ jsonrpc: "2.0", id, method, params })
    const failed = this.#ended.then((): never => {
      const lines = this.#errors.trim().split("\n")
      throw new Error(`the server ended: ${lines.find((line) => /error/i.test(line)) ?? lines.at(-1)}`)
    })
    failed.catch(() => {})
    const { result, error } = await (this.#server.exitCode === null ? Promise.race([answered, failed]) : failed)
    if (error !== undefined) throw new Error(error.message)
    return result
  }

  /** The text of a tool's answer. */
  async call(call: ToolCall): Promise<string> {
    const result = (await this.request("tools/call", call)) as { readonly content?: ReadonlyArray<{ text?: string }> }
    return (result.content ?? []).map(({ text = "" }) => text).join("\n")
  }

  /** Ends the server without waiting for it. */
  kill(): void {
    this.#server.kill("SIGKILL")
  }

  async close(): Promise<void> {
    this.#server.stdin.end()
    const killed = setTimeout(() => this.#server.kill("SIGKILL"), 3000)
    await this.#ended
    clearTimeout(killed)
  }

  #send(message: unknown): void {
    this.#server.stdin.write(`${JSON.stringify(message)}\n`)
  }
}
