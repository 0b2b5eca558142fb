import type { OutputLog } from "@haft/core"
import type { IBufferLine, Terminal as Emulator } from "@xterm/headless"

import type { WindowSize } from "./native.ts"

/** Screen as a person would see it. */
export interface ScreenView {
  /** Rows without the blanks at their ends, and without the empty rows at the bottom. */
  readonly text: string
  /** From 1. */
  readonly cursorRow: number
  readonly cursorColumn: number
}

/** Settings that programs make in a terminal and that change what keys send. */
export interface ScreenModes {
  readonly applicationCursorKeys: boolean
}

/**
 * A terminal emulator that follows the output when somebody looks, so that a flood nobody looks at costs nothing.
 * Output that left the log unseen is passed over, except for the modes that were set in it.
 */
export class Screen {
  readonly #log: OutputLog
  readonly #answer: (text: string) => void
  #emulator: Promise<Emulator> | undefined
  #seen = 0
  #turn: Promise<unknown> = Promise.resolve()
  #isAnswering = false
  /** The beginning of a question that goes on in the next chunk. */
  #halfAsked = ""
  #passedModes = ""
  /** The beginning of an escape sequence that goes on in what is still in the log. */
  #passedStart = ""
  readonly #sizes: Array<WindowSize & { readonly at: number }>

  constructor(log: OutputLog, size: WindowSize, answer: (text: string) => void) {
    this.#log = log
    this.#sizes = [{ at: 0, ...size }]
    this.#answer = answer
  }

  /** To be told before a chunk enters the log: takes note of what the log is about to forget. */
  beforeOutput(chunk: Uint8Array): void {
    const forgotten = this.#log.end + chunk.length - this.#log.capacity
    if (forgotten <= this.#seen) return
    this.#pass(this.#log.slice(this.#seen, forgotten))
    this.#pass(chunk.subarray(0, Math.max(0, forgotten - this.#log.end)))
    this.#seen = forgotten
  }

  /** Follows at once when a program asks the terminal something, and answers as a terminal does. */
  afterOutput(chunk: Uint8Array): void {
    if (this.#halfAsked === "" && !chunk.includes(escape)) return
    const text = this.#halfAsked + latin1.decode(chunk)
    this.#halfAsked = halfQuestion.exec(text.slice(-longestSequence))?.[0] ?? ""
    if (!question.test(text)) return
    void this.#inTurn(async () => {
      this.#isAnswering = true
      await this.#follow().finally(() => (this.#isAnswering = false))
    })
  }

  resize(size: WindowSize): void {
    this.#sizes.push({ at: this.#log.end, ...size })
  }

  view(): Promise<ScreenView> {
    return this.#inTurn(async () => {
      const { buffer, rows } = await this.#follow()
      const { active } = buffer
      const lines = Array.from({ length: rows }, (_, row) => withoutBlanks(active.getLine(active.baseY + row)))
      return {
        text: lines.join("\n").trimEnd(),
        cursorRow: active.cursorY + 1,
        cursorColumn: active.cursorX + 1
      }
    })
  }

  modes(): Promise<ScreenModes> {
    return this.#inTurn(async () => {
      const { modes } = await this.#follow()
      return { applicationCursorKeys: modes.applicationCursorKeysMode }
    })
  }

  /** Frees the emulator. */
  dispose(): void {
    void this.#emulator?.then((emulator) => emulator.dispose())
  }

  #pass(bytes: Uint8Array): void {
    if (this.#passedStart === "" && !bytes.includes(escape)) return
    const text = this.#passedStart + latin1.decode(bytes)
    this.#passedModes = (this.#passedModes + (text.match(privateModes) ?? []).join("")).slice(-4096)
    const lastStart = text.lastIndexOf(escapeCharacter)
    this.#passedStart = text.length - lastStart < longestSequence ? text.slice(lastStart) : ""
  }

  #inTurn<A>(work: () => Promise<A>): Promise<A> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  async #follow(): Promise<Emulator> {
    const emulator = await (this.#emulator ??= this.#start())
    const passed = this.#passedModes + this.#passedStart
    this.#passedModes = ""
    this.#passedStart = ""
    if (passed !== "") await write(emulator, Buffer.from(passed))
    const end = this.#log.end
    for (const size of this.#sizes.splice(0)) {
      await write(emulator, this.#log.slice(this.#seen, size.at))
      this.#seen = Math.max(this.#seen, size.at)
      emulator.resize(size.cols, size.rows)
    }
    await write(emulator, this.#log.slice(this.#seen, end))
    this.#seen = Math.max(this.#seen, end)
    return emulator
  }

  async #start(): Promise<Emulator> {
    const { default: headless } = await import("@xterm/headless")
    const { cols, rows } = this.#sizes[0] ?? { cols: 80, rows: 24 }
    const emulator = new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true, logLevel: "off" })
    for (const [final, bound] of Object.entries(repeated)) {
      emulator.parser.registerCsiHandler({ final }, ([count]) => Number(count) > emulator[bound])
    }
    emulator.onData((text) => {
      if (this.#isAnswering) this.#answer(text)
    })
    return emulator
  }
}

// The emulator leaves out cells that nothing was written to; full-screen programs write blanks to the end of a row.
const withoutBlanks = (line: IBufferLine | undefined): string => line?.translateToString(true).replace(/ +$/, "") ?? ""

const escape = 0x1b
const escapeCharacter = String.fromCodePoint(escape)
const latin1 = new TextDecoder("latin1")
// Queries for a terminal's kind, state, settings and cursor: programs wait for the answer.
const question = new RegExp(String.raw`${escapeCharacter}\[(?:[>=]?\d*c|\??[56]n|\??\d+\$p)`)
const halfQuestion = new RegExp(String.raw`${escapeCharacter}(?:\[[>=?]?\d*\$?)?$`)
const privateModes = new RegExp(String.raw`${escapeCharacter}\[\?[\d;]{1,32}[hl]`, "g")
const longestSequence = 40

/**
 * Orders to tab, to repeat, to insert, delete or scroll lines. The emulator carries them out as often as it is told,
 * two thousand million times if need be, so those that go beyond the window are ignored.
 */
const repeated = { I: "cols", Z: "cols", b: "cols", L: "rows", M: "rows", S: "rows", T: "rows" } as const

/** The emulator lets others have their turn between pieces, and not within one. */
const pieceBytes = 512
/** It refuses more than some megabytes that it has not looked at yet. */
const batchBytes = 1024 * 1024

const write = async (emulator: Emulator, data: Uint8Array): Promise<void> => {
  for (let from = 0; from < data.length; from += batchBytes) {
    const batch = data.subarray(from, from + batchBytes)
    await new Promise<void>((resolve) => {
      for (let at = 0; at < batch.length; at += pieceBytes) emulator.write(batch.subarray(at, at + pieceBytes))
      emulator.write("", resolve)
    })
  }
}
