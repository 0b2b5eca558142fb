/** One way to do the job. A limit is the best that the machine can do; peers are other programs. */
export interface Contender {
  readonly name: string
  readonly kind: "limit" | "peer" | "haft"
  /** Shown beside the name, for programs that have one. */
  readonly version?: string
  /** The goal as a ratio to the floor. */
  readonly atMost?: number
  /** The goal as nanoseconds or bytes. */
  readonly within?: number
  /** Does the job once and returns its answer. */
  readonly run: () => unknown
  /** Throws if the answer is wrong: a contender with a wrong answer is not measured. */
  readonly check: (answer: unknown) => void
}

/** One job at one size, done by several contenders in turn. */
export interface Benchmark {
  /** The group that it belongs to, such as `read`. */
  readonly group: string
  /** The job, in words. */
  readonly name: string
  /** How large the job is: a number for the axis of the plot, and words. */
  readonly size?: { readonly value: number; readonly label: string }
  /** The name of the contender that others are compared with: its ratio is 1. */
  readonly floor: string
  /**
   * The time of a run, by default; the time that 99 of 100 runs stay below (`slowest`); or the answer itself (`bytes`).
   */
  readonly measures?: "time" | "slowest" | "bytes"
  /**
   * How many runs are made at the same time, 1 by default. The time of a run is that of all, divided by their number.
   */
  readonly inFlight?: number
  /** True if the contenders are servers in other processes, which are warmed up for longer. */
  readonly isServer?: boolean
  readonly contenders: ReadonlyArray<Contender>
  /** Contenders that could not be measured, with the reason. */
  readonly absent?: ReadonlyArray<Absent>
  /** Why the goal is missed; shown if it is. */
  readonly ifMissed?: string
  readonly close?: () => void | Promise<void>
}

export interface Absent {
  readonly name: string
  readonly reason: string
}

export interface Setting {
  /** Small sizes, few rounds, nothing downloaded: for continuous integration. */
  readonly quick: boolean
  /** A directory for corpora and peers, kept between runs. */
  readonly home: string
}

/** Each file of `src/groups` exports one as `benchmarks`. A benchmark is closed before the next is made. */
export type Group = (setting: Setting) => AsyncIterable<Benchmark>

export interface Measured extends Pick<Contender, "kind" | "version" | "atMost" | "within"> {
  readonly contender: string
  /** In nanoseconds per run, or bytes. */
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
  readonly ratio: number
  readonly runs: number
}

export interface Result extends Pick<Benchmark, "group" | "name" | "size" | "floor" | "ifMissed"> {
  readonly measures: NonNullable<Benchmark["measures"]>
  readonly measured: ReadonlyArray<Measured>
  readonly absent: ReadonlyArray<Absent>
}

export const isMissed = ({ atMost = Infinity, within = Infinity, ratio, median }: Measured): boolean =>
  ratio > atMost || median > within
