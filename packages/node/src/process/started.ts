import type { Command } from "@haft/core"

/** A program that was started, whichever way. */
export interface Started {
  /** The process that everything the program starts comes from. */
  readonly root: number
  /** Part of the way it was started: ends by itself, and is not signalled. */
  readonly spared: ReadonlyArray<number>
  readonly end: Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }>
  /** Standard output and standard error. */
  readonly streams: ReadonlyArray<Stream>
  readonly gate?: Gate
}

export interface Stream {
  /** True when every writer is gone, false when it was closed before that. */
  readonly ended: Promise<boolean>
  /** Goes on reading for a program that was left running, without keeping the host alive or telling anybody. */
  readonly letRun: () => void
  readonly close: () => void
}

/** The line to a sandbox's launcher. */
export interface Gate {
  /** Lets the command start. */
  readonly open: () => void
  /** Ends the sandbox before the command has started. */
  readonly refuse: () => void
  readonly close: () => void
}

export interface StartOptions {
  readonly command: Command
  /** An assignment that every process of this program inherits. */
  readonly mark: { readonly name: string; readonly value: string }
  readonly onStdout: (chunk: Uint8Array) => void
  readonly onStderr: (chunk: Uint8Array) => void
  /** What the sandbox's launcher says, line by line. */
  readonly onGate: (line: string) => void
}

export type Start = (options: StartOptions) => Promise<Started>
