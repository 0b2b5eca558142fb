import { makeToolError, type TreeLimits } from "@haft/core"

import { makeGroup, sumsHeld } from "./cgroup.ts"
import { Lane } from "./lane.ts"
import type { Launcher } from "./launcher.ts"
import type { PipePool } from "./pipes.ts"

/** Lanes that are kept for the next command. More are opened when more commands run at a time. */
const mostIdle = 32

export interface LanePoolOptions {
  readonly launcher: () => Promise<Launcher>
  readonly pipes: PipePool
  /** The beginning of the names of the lanes' groups. */
  readonly groupName: string
}

/** The lanes of one host: those for commands with limits, and those for the others. */
export class LanePool {
  readonly #options: LanePoolOptions
  readonly #idle: Array<Lane> = []

  constructor(options: LanePoolOptions) {
    this.#options = options
  }

  /** A lane nobody else has. With limits it is held to them, where the machine allows that. */
  async take(limits: TreeLimits | undefined): Promise<Lane> {
    const launcher = await this.#options.launcher()
    const isHeld = limits !== undefined && Object.values(sumsHeld()).includes(true)
    const index = this.#idle.findLastIndex((lane) => isHeld === (lane.group !== undefined) && isFree(lane))
    const lane = this.#idle.splice(index, index === -1 ? 0 : 1)[0] ?? (await this.#open(launcher, isHeld))
    // The lane itself and the launcher's process count too.
    if (limits !== undefined) lane.group?.hold({ ...limits, processes: limits.processes + 2 })
    return lane
  }

  /** Once nothing of the command is left. */
  giveBack(lane: Lane, limits: TreeLimits | undefined): void {
    const isWorn = lane.isLost || (limits !== undefined && lane.group?.isClogged(limits) === true)
    if (isWorn || this.#idle.length >= mostIdle) void this.#close(lane)
    else this.#idle.push(lane)
  }

  async #close(lane: Lane): Promise<void> {
    await lane.close()
    for (const path of Object.values(lane.pipes)) this.#options.pipes.throwAway(path)
  }

  async #open(launcher: Launcher, isHeld: boolean): Promise<Lane> {
    const { pipes, groupName } = this.#options
    const [code = "", report = ""] = await pipes.take(2)
    const group = isHeld ? makeGroup(groupName) : undefined
    try {
      const lane = new Lane(launcher, { code, report }, group)
      if (await lane.ready) return lane
      throw makeToolError("sandbox_error", "the sandbox could not be set up: its limits could not be put in place")
    } catch (cause) {
      void group?.remove()
      throw cause
    }
  }
}

// What was killed a moment ago may still be on its way out, and would count against the next command.
const isFree = (lane: Lane): boolean => !lane.isLost && (lane.group === undefined || lane.group.count() === 1)
