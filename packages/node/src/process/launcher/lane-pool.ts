import { makeToolError } from "@haft/core"

import type { TreeLimits } from "../prepared-launch.ts"
import { childrenOf } from "../process-table.ts"
import { makeGroup, sumsHeld } from "./cgroup.ts"
import { Lane } from "./lane.ts"
import type { Launcher } from "./launcher.ts"
import type { PipePool } from "./pipes.ts"

/** Lanes that are kept for the next command. More are opened when more commands run at a time. */
const mostIdle = 32
/** After this time without a command a lane is closed, but for the few that were used last. */
const idleMs = 4000
const leastIdle = 2

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
  readonly #idleSince = new WeakMap<Lane, number>()
  #sweeping: NodeJS.Timeout | undefined

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
    else {
      this.#idle.push(lane)
      this.#idleSince.set(lane, performance.now())
      this.#sweepLater()
    }
  }

  /** The lanes themselves end with the launcher. */
  close(): void {
    clearTimeout(this.#sweeping)
  }

  #sweepLater(): void {
    const [first] = this.#idle
    if (first === undefined || this.#idle.length <= leastIdle) return
    this.#sweeping ??= setTimeout(() => this.#sweep(), Math.max(1, idleMs - this.#idleTime(first))).unref()
  }

  // The last that came back are the first to be taken, so those that nobody needs are at the beginning.
  #sweep(): void {
    this.#sweeping = undefined
    const spare = this.#idle.slice(0, -leastIdle).filter((lane) => this.#idleTime(lane) >= idleMs - 50)
    for (const lane of this.#idle.splice(0, spare.length)) void this.#close(lane)
    this.#sweepLater()
  }

  #idleTime(lane: Lane): number {
    return performance.now() - (this.#idleSince.get(lane) ?? 0)
  }

  async #close(lane: Lane): Promise<void> {
    await lane.close()
    for (const path of Object.values(lane.pipes)) this.#options.pipes.throwAway(path)
  }

  async #open(launcher: Launcher, isHeld: boolean): Promise<Lane> {
    const { pipes, groupName } = this.#options
    const [code = ""] = await pipes.take("write", 1)
    const [report = ""] = await pipes.take("read", 1)
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

// A process that was killed a moment ago may still be ending, and would count against the next command. What a command
// without a sandbox left running would count as the next one's.
const isFree = ({ isLost, group, pid }: Lane): boolean =>
  !isLost && (group === undefined ? childrenOf(pid).length === 0 : group.count() === 1)
