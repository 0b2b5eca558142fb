import { randomBytes } from "node:crypto"

import { artifactAddress, CurrentCall, toolError, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

import { ExecSettings } from "../settings.ts"
import { ManagedProcess } from "./managed-process.ts"

/** Background processes of one host. They end with it; ended ones stay readable for a while. */
export class ManagedProcesses extends Context.Service<
  ManagedProcesses,
  {
    /** Reserves a place for a process of the current caller. */
    readonly add: (
      facts: Pick<ManagedProcess, "command" | "directory">
    ) => Effect.Effect<ManagedProcess, ToolError<"session_limit">>
    /** Forgets a process that could not be started. */
    readonly remove: (process: ManagedProcess) => Effect.Effect<void>
    /** A process of the current caller. */
    readonly find: (id: string) => Effect.Effect<ManagedProcess, ToolError<"session_not_found">>
    /** Processes of the current caller, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ManagedProcess>>
    readonly fibers: FiberSet.FiberSet<void>
  }
>()("@haft/exec-tools/ManagedProcesses") {
  static readonly layer: Layer.Layer<ManagedProcesses, never, ExecSettings> = Layer.effect(
    ManagedProcesses,
    Effect.gen(function* () {
      const { maxProcesses, keepEndedMs, retainedBytes } = yield* ExecSettings
      const fibers = yield* FiberSet.make<void>()
      const processes = new Map<string, ManagedProcess>()
      const dropOld = (): void => {
        const ended = [...processes.values()].filter(({ endedAt }) => endedAt !== undefined)
        const isOld = ({ endedAt = 0 }: ManagedProcess): boolean => performance.now() - endedAt > keepEndedMs
        for (const { id } of ended.filter(isOld)) processes.delete(id)
      }
      const makeRoom = (): void => {
        dropOld()
        const ended = [...processes.values()].filter(({ endedAt }) => endedAt !== undefined)
        const oldest = ended.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
        const surplus = processes.size - maxProcesses + 1
        for (const { id } of oldest.slice(0, Math.max(0, surplus))) processes.delete(id)
      }
      const owner = CurrentCall.useSync(({ caller }) => caller?.name ?? null)
      const run = CurrentCall.useSync((call) => call.run ?? "")
      return {
        fibers,
        add: (facts) =>
          Effect.flatMap(Effect.all([owner, run]), ([name, inRun]) => {
            makeRoom()
            if (processes.size >= maxProcesses) return tooMany(maxProcesses)
            const id = `process-${randomBytes(4).toString("hex")}`
            const artifact = artifactAddress(inRun, outputArtifact(id))
            const process = new ManagedProcess({ ...facts, id, owner: name, retainedBytes, artifact })
            processes.set(id, process)
            return Effect.succeed(process)
          }),
        remove: ({ id }) => Effect.sync(() => void processes.delete(id)),
        find: (id) =>
          Effect.flatMap(owner, (name) => {
            dropOld()
            const process = processes.get(id)
            return process?.owner === name ? Effect.succeed(process) : unknownProcess(id)
          }),
        list: Effect.map(owner, (name) => {
          dropOld()
          return [...processes.values()].filter((process) => process.owner === name)
        })
      }
    })
  )
}

/** Path of the artifact with the output of a process. */
export const outputArtifact = (id: string): string => `processes/${id}.log`

const tooMany = (limit: number) =>
  toolError("session_limit", `${limit} processes are running, and that is the limit`, {
    suggestion: "Stop a process that is not needed any more.",
    details: { limit }
  })

const unknownProcess = (id: string) =>
  toolError("session_not_found", `there is no process '${id}'`, {
    suggestion: "It was never started, or ended a while ago. list_processes shows the others.",
    details: { session: id }
  })
