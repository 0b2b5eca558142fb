import { OutputLog, type RunningProcess } from "@haft/core"

import type { BackgroundProgram, BackgroundProgramEnd } from "../background/background-program.ts"
import type { CommandOutcome } from "../run-command/run-command.ts"

export interface ProcessFacts {
  readonly id: string
  readonly command: string
  /** Relative to the workspace. */
  readonly directory: string
  /** Name of the caller who started it; null where callers have no names. */
  readonly owner: string | null
  readonly retainedBytes: number
  /** Address of the artifact with all that it prints. */
  readonly artifact: string
}

/** A process that was started in the background: what it printed and how it ended. */
export class ManagedProcess {
  readonly id: string
  readonly command: string
  readonly directory: string
  readonly owner: string | null
  readonly artifact: string
  /** Milliseconds since the epoch. */
  readonly startedAt = Date.now()
  /** Standard output and standard error together, in the order of their arrival. */
  readonly output: OutputLog
  /** Up to where replies have shown the output. */
  delivered = 0
  lastOutputAt = performance.now()
  program: BackgroundProgram | undefined
  #end: BackgroundProgramEnd | undefined
  #endedAt: number | undefined

  constructor(facts: ProcessFacts) {
    this.id = facts.id
    this.command = facts.command
    this.directory = facts.directory
    this.owner = facts.owner
    this.artifact = facts.artifact
    this.output = new OutputLog(facts.retainedBytes)
  }

  get end(): BackgroundProgramEnd | undefined {
    return this.#end
  }

  /** When it ended, on the clock of `performance.now()`. */
  get endedAt(): number | undefined {
    return this.#endedAt
  }

  get running(): RunningProcess | undefined {
    return this.#end === undefined ? this.program?.running : undefined
  }

  get sandbox(): CommandOutcome["sandbox"] {
    return this.program?.sandbox ?? { kind: "none", isolated: false }
  }

  print(chunk: Uint8Array): void {
    this.output.append(chunk)
    this.lastOutputAt = performance.now()
  }

  finish(end: BackgroundProgramEnd): void {
    this.#end = end
    this.#endedAt = performance.now()
  }
}
