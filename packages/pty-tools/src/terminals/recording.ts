import type { ArtifactWriter } from "@haft/core"

import type { WindowSize } from "./native.ts"

export interface RecordingHeader extends WindowSize {
  readonly startedAt: number
  readonly command: string
  readonly term: string
}

/**
 * Writes down what a terminal printed, as an asciicast (version 2) that players understand. What was typed is left out:
 * where the terminal echoes it, it is part of the output, and where it does not, nobody should read it.
 */
export class Recording {
  readonly path: string
  readonly #writer: ArtifactWriter
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  readonly #begun = performance.now()
  #room: number

  constructor(writer: ArtifactWriter, capBytes: number, header: RecordingHeader) {
    this.path = writer.path
    this.#writer = writer
    this.#room = capBytes
    this.#writeLine({
      version: 2,
      width: header.cols,
      height: header.rows,
      timestamp: Math.floor(header.startedAt / 1000),
      command: header.command,
      env: { TERM: header.term }
    })
  }

  output(chunk: Uint8Array): void {
    if (this.#room <= 0) return
    const text = this.#decoder.decode(chunk, { stream: true })
    if (text !== "") this.#event("o", text)
  }

  resize({ cols, rows }: WindowSize): void {
    this.#event("r", `${cols}x${rows}`)
  }

  #event(code: "o" | "r", data: string): void {
    this.#writeLine([Math.round((performance.now() - this.#begun) * 1000) / 1_000_000, code, data])
  }

  // The file ends with the last line that fits: half a line would make it unreadable.
  #writeLine(line: unknown): void {
    if (this.#room <= 0) return
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`)
    this.#room -= bytes.length
    if (this.#room < 0) return
    try {
      this.#writer.write(bytes)
    } catch {
      // A full disk ends the recording, not the terminal.
      this.#room = 0
    }
  }
}
