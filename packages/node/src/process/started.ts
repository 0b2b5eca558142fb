import { constants } from "node:os"

import type { Command, ProcessEnd } from "@haft/core"

/** A program that was started, whichever way. */
export interface Started {
  /** The process that everything the program starts comes from. */
  readonly root: number
  /** Part of the way it was started: ends by itself, and is not signalled. */
  readonly spared: ReadonlyArray<number>
  readonly end: Promise<End>
  /** Standard output and standard error. */
  readonly streams: ReadonlyArray<Stream>
  readonly gate?: Gate
  /** Writes to the program's control channel, where it has one. */
  readonly send?: (text: string) => void
  /** For when nothing of the program is left, or nobody cares for it any more. */
  readonly release: () => void
}

/** How a program ended. Both are null when nobody knows. */
export type End = Pick<ProcessEnd, "exitCode" | "signal">

/** Meaning of a shell's exit code. It is the same for a signal and for a program that chose the number itself. */
export const endOf = (code: number, wasSignal: boolean): End => {
  const signal = wasSignal ? signalNames.get(code - 128) : undefined
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal }
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name] as const))

export interface Stream {
  /** True when every writer is gone, false when it was closed before that. */
  readonly ended: Promise<boolean>
  /** Goes on reading for a program that was left running, without keeping the host alive or telling anybody. */
  readonly letRun: () => void
  readonly close: () => void
}

/** The line to a sandbox's launcher. */
export interface Gate {
  /** When the launcher has said all that it has to say. */
  readonly ended: Promise<boolean>
  /** Lets the command start. */
  readonly open: () => void
  /** Ends the sandbox before the command has started. */
  readonly refuse: () => void
}

export interface StartProgramOptions {
  readonly command: Command
  /** An assignment that every process of this program inherits. */
  readonly mark: { readonly name: string; readonly value: string }
  readonly onStdout: (chunk: Uint8Array) => void
  readonly onStderr: (chunk: Uint8Array) => void
  /** Opens a control channel, see `RunOptions` of core. */
  readonly onReport: ((chunk: Uint8Array) => void) | undefined
  /** Output of the sandbox's launcher, line by line. */
  readonly onGate: (line: string) => void
  /** True once nobody wants the program any more: then it is not started. */
  readonly isCancelled: () => boolean
  readonly addressSpaceBytes: number | undefined
}

/** A start that was given up before the program ran. */
export class Cancelled extends Error {}

export type Start = (options: StartProgramOptions) => Promise<Started>
