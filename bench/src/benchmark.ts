/** One way to do the job. The limit is what the machine can do at best; peers are other programs. */
export interface Contender {
  readonly name: string
  readonly kind: "limit" | "peer" | "haft"
  /** Shown beside the name, for programs that have one. */
  readonly version?: string
  /** The goal, as a ratio to the floor. */
  readonly atMost?: number
  /** The goal where it is a figure of its own: nanoseconds, or bytes. */
  readonly within?: number
  /** Does the job once and returns its answer. */
  readonly run: () => unknown
  /** Throws unless the answer is right: a wrong answer has no time. */
  readonly check: (answer: unknown) => void
}

/** One job at one size, done by several contenders in turn. */
export interface Benchmark {
  /** What belongs together, such as `read`. */
  readonly group: string
  /** What is done. */
  readonly name: string
  /** How large, as a number for the plot's axis and in words. */
  readonly size?: { readonly value: number; readonly label: string }
  /** The contender that counts as 1. */
  readonly floor: string
  /**
   * The time of a run. `slowest` is the time that 99 runs of a hundred stay below; with `bytes` a run's answer is the
   * figure itself.
   */
  readonly measures?: "time" | "slowest" | "bytes"
  /** Runs that are under way at the same time; the time is that of all divided by their number. 1 when absent. */
  readonly inFlight?: number
  /** Whether the contenders are servers in processes of their own, which are warmed up for longer. */
  readonly isServer?: boolean
  readonly contenders: ReadonlyArray<Contender>
  /** Who should be here and is not, with the reason. */
  readonly absent?: ReadonlyArray<Absent>
  /** What a missed goal is due to. Shown when it is missed. */
  readonly ifMissed?: string
  readonly close?: () => void | Promise<void>
}

export interface Absent {
  readonly name: string
  readonly reason: string
}

export interface Setting {
  /** Small sizes, few rounds, nothing fetched: for continuous integration. */
  readonly quick: boolean
  /** A directory of the benchmark's own, kept between runs: corpora, peers. */
  readonly home: string
}

/** A file of `src/groups` exports this as `benchmarks`. Each is closed before the next is made. */
export type Group = (setting: Setting) => AsyncIterable<Benchmark>

export interface Measured extends Pick<Contender, "kind" | "version" | "atMost" | "within"> {
  readonly contender: string
  /** Nanoseconds a run, or bytes. */
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

/** Checks every contender's answer, then lets them take turns, and gives medians and ratios. */
export const measure = async (benchmark: Benchmark, { quick }: Setting): Promise<Result> => {
  const { group, name, size, floor, measures = "time", absent = [], ifMissed } = benchmark
  const plan = quick ? quickPlan : wholePlan
  const contestants: Array<Contestant> = []
  const wrong: Array<Absent> = []
  for (const contender of benchmark.contenders) {
    try {
      contestants.push(await prepare(contender, benchmark, plan))
    } catch (error) {
      // A peer that fails is a result; a limit or we ourselves that fail are a mistake.
      if (contender.kind !== "peer") throw error
      const { name, version = "" } = contender
      wrong.push({ name: `${name} ${version}`.trim(), reason: `wrong answer: ${(error as Error).message}` })
    }
  }
  for (let round = 0; round < plan.rounds; round++) {
    // A different one begins each round, so that none always has the warm or the cold turn.
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(round + turn) % contestants.length]
      if (contestant !== undefined && !isDone(contestant, plan.shareMs)) await takeTurn(contestant)
    }
  }
  const floorMedian = quantile(contestants.find(({ contender }) => contender.name === floor)?.figures ?? [], 0.5)
  return {
    group,
    name,
    ...(size !== undefined && { size }),
    floor,
    measures,
    ...(ifMissed !== undefined && { ifMissed }),
    absent: [...absent, ...wrong],
    measured: contestants.map((contestant) => measuredOf(contestant, floorMedian, plan))
  }
}

/**
 * How long a turn and the warming up before the first take, how many turns there are, and after what time few more. A
 * server has more code to become quick at: the engine still compiles after some thousand calls.
 */
const wholePlan = { turnMs: 50, warmUpMs: 500, serverWarmUpMs: 3000, rounds: 15, shareMs: 2000, hasGoals: true }
/** Goals are about whole sizes. */
const quickPlan: Plan = { turnMs: 10, warmUpMs: 100, serverWarmUpMs: 100, rounds: 5, shareMs: 150, hasGoals: false }
type Plan = typeof wholePlan

interface Contestant {
  readonly contender: Contender
  readonly runs: number
  readonly takeTurn: () => Promise<number>
  readonly figures: Array<number>
  spentMs: number
}

const prepare = async (
  contender: Contender,
  { inFlight = 1, isServer = false, measures }: Benchmark,
  { turnMs, warmUpMs, serverWarmUpMs }: Plan
): Promise<Contestant> => {
  contender.check(await contender.run())
  const contestant = { contender, figures: [], spentMs: 0 }
  if (measures === "bytes") return { ...contestant, runs: 1, takeTurn: async () => Number(await contender.run()) }
  const start = performance.now()
  let runs = await runsFor(contender, inFlight, turnMs)
  while (performance.now() - start < (isServer ? serverWarmUpMs : warmUpMs))
    runs = await runsFor(contender, inFlight, turnMs)
  if (measures === "slowest") return { ...contestant, runs: 100, takeTurn: () => slowestOf(contender) }
  return { ...contestant, runs, takeTurn: () => timeOf(contender, runs, inFlight) }
}

// Who is slow takes fewer turns, but some.
const isDone = ({ figures, spentMs }: Contestant, shareMs: number): boolean =>
  spentMs > shareMs && figures.length >= (spentMs / figures.length > 5000 ? 1 : spentMs / figures.length > 1000 ? 3 : 5)

const takeTurn = async (contestant: Contestant): Promise<void> => {
  const start = performance.now()
  contestant.figures.push(await contestant.takeTurn())
  contestant.spentMs += performance.now() - start
}

const measuredOf = ({ contender, figures, runs }: Contestant, floor: number, { hasGoals }: Plan): Measured => {
  const { name, kind, version, atMost, within } = contender
  const median = quantile(figures, 0.5)
  return {
    contender: name,
    kind,
    ...(version !== undefined && { version }),
    ...(hasGoals && atMost !== undefined && { atMost }),
    ...(hasGoals && within !== undefined && { within }),
    median,
    lowerQuartile: quantile(figures, 0.25),
    upperQuartile: quantile(figures, 0.75),
    ratio: median / floor,
    runs: figures.length * runs
  }
}

// Enough runs that a turn takes some milliseconds: the clock and the scheduler then matter little.
const runsFor = async (contender: Contender, inFlight: number, turnMs: number): Promise<number> => {
  for (let count = inFlight; ; count *= 4) {
    const elapsedMs = ((await timeOf(contender, count, inFlight)) * count) / 1e6
    if (elapsedMs > turnMs / 4 || count > 1e6) return Math.max(inFlight, Math.round((count * turnMs) / elapsedMs))
  }
}

/** Nanoseconds a run. */
const timeOf = async ({ run }: Contender, count: number, inFlight: number): Promise<number> => {
  let left = count
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = run()
      if (answer instanceof Promise) await answer
    }
  }
  const start = process.hrtime.bigint()
  if (inFlight === 1) await lane()
  else await Promise.all(Array.from({ length: inFlight }, lane))
  return Number(process.hrtime.bigint() - start) / count
}

const slowestOf = async (contender: Contender): Promise<number> => {
  const times = []
  for (let run = 0; run < 100; run++) times.push(await timeOf(contender, 1, 1))
  return quantile(times, 0.99)
}

const quantile = (values: ReadonlyArray<number>, at: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
}
