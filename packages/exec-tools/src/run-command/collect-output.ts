import { stripVTControlCharacters } from "node:util"

import { artifactAddress, Artifacts, type Clipped, CurrentCall, HeadAndTail, visibleText } from "@haft/core"
import * as Effect from "effect/Effect"

/** Bytes of each stream in a reply. The artifact holds more. */
const replyBytes = 100_000

export interface Output extends Clipped {
  /** The artifact with all of it, up to the host's limit: its path within the run, and its address. */
  readonly path: string
  readonly address: string
  /** Bytes beyond that limit, which nobody has. */
  readonly droppedBytes: number
}

export interface Collector {
  readonly push: (chunk: Uint8Array) => void
  readonly finish: () => Output
  readonly lastLine: () => string
}

/** Keeps what a command prints: the beginning and the end for the reply, all of it as an artifact. */
export const collectOutput = Effect.fnUntraced(function* (capBytes: number) {
  const artifacts = yield* Artifacts
  const { step, run = "" } = yield* CurrentCall
  const collector = Effect.fnUntraced(function* (stream: "stdout" | "stderr") {
    const name = `logs/tool_step_${String(step).padStart(4, "0")}_${stream}.txt`
    const writer = yield* artifacts.create(name, { capBytes })
    const address = artifactAddress(run, name)
    const kept = new HeadAndTail(replyBytes)
    let last = new Uint8Array()
    return {
      push: (chunk) => {
        kept.push(chunk)
        writer.write(chunk)
        last = new Uint8Array(chunk.subarray(-200))
      },
      finish: () => {
        const droppedBytes = writer.dropped()
        const whereabouts = `${droppedBytes === 0 ? "all of it" : "more of it"} is in ${address}`
        return { ...kept.finish(whereabouts), path: writer.path, address, droppedBytes }
      },
      lastLine: () => {
        const lines = new TextDecoder()
          .decode(last)
          .trimEnd()
          .split(/[\r\n]/)
        // It is shown to people while the command runs, and must not do anything to their screen.
        return visibleText(stripVTControlCharacters(lines.at(-1) ?? ""))
      }
    } satisfies Collector
  })
  return { stdout: yield* collector("stdout"), stderr: yield* collector("stderr") }
})

export interface Collectors {
  readonly stdout: Collector
  readonly stderr: Collector
}
