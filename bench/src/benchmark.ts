/** One way to do the job. The limit is what the machine can do at best; peers are other programs. */
export interface Contender {
  readonly name: string
  readonly kind: "limit" | "peer" | "haft"
  /** Shown beside the name, for programs that have one. */
  readonly version?: string
  /** Does the job once and returns its answer. */
  readonly run: () => unknown
  /** Throws unless the answer is right: a wrong answer has no time. */
  readonly check: (answer: unknown) => void
}

/** One job at one size, done by several contenders in turn. */
export interface Benchmark {
  /** What belongs together, such as `read`: the filter of the command line looks at it. */
  readonly group: string
  /** What is done. */
  readonly name: string
  /** How large, as a number for the plot's axis and in words. */
  readonly size?: { readonly value: number; readonly label: string }
  /** The contender that counts as 1. */
  readonly floor: string
  /** What haft is to reach, as a ratio to the floor. `atLeast` is for rates, where more is better. */
  readonly goal?: { readonly contender: string; readonly atMost: number }
  readonly contenders: ReadonlyArray<Contender>
  /** How often each contender takes its turn. */
  readonly rounds?: number
  /** Runs within one turn; chosen from the first run's time when absent. */
  readonly runsPerRound?: number
  readonly close?: () => void | Promise<void>
}

export interface Setting {
  /** Small sizes, few rounds: for continuous integration. */
  readonly quick: boolean
  /** A directory of the benchmark's own, kept between runs: corpora, peers. */
  readonly home: string
}

/** A file of `src/groups` exports this as `benchmarks`. Each is closed before the next is made. */
export type Group = (setting: Setting) => AsyncIterable<Benchmark>

export interface Measured {
  readonly contender: string
  readonly kind: Contender["kind"]
  readonly version?: string
  /** Nanoseconds a run. */
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
  readonly ratio: number
  readonly runs: number
}

export interface Result {
  readonly group: string
  readonly name: string
  readonly size?: Benchmark["size"]
  readonly floor: string
  readonly goal?: Benchmark["goal"]
  readonly met?: boolean
  readonly measured: ReadonlyArray<Measured>
}

/** Checks every contender's answer, then lets them take turns, and gives medians and ratios. */
export const measure = async (benchmark: Benchmark, { quick }: Setting): Promise<Result> => {
  const { contenders, group, name, floor, goal, size } = benchmark
  const rounds = benchmark.rounds ?? (quick ? 5 : 15)
  for (const { run, check } of contenders) check(await run())
  const runs = new Map<string, number>()
  for (const contender of contenders) {
    runs.set(contender.name, benchmark.runsPerRound ?? (await runsFor(contender, quick ? 20 : 100)))
  }
  const times = new Map(contenders.map((contender) => [contender.name, [] as Array<number>]))
  for (let round = 0; round < rounds; round++) {
    // A different one begins each round, so that none always has the warm or the cold turn.
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(round + turn) % contenders.length]
      if (contender !== undefined)
        times.get(contender.name)?.push(await timeOf(contender, runs.get(contender.name) ?? 1))
    }
  }
  const medianOf = (contender: string): number => quantile(times.get(contender) ?? [], 0.5)
  const measured = contenders.map((contender) => {
    const own = times.get(contender.name) ?? []
    return measuredOf(contender, own, medianOf(floor), own.length * (runs.get(contender.name) ?? 1))
  })
  const reached = measured.find(({ contender }) => contender === goal?.contender)?.ratio
  return {
    group,
    name,
    ...(size !== undefined && { size }),
    floor,
    ...(goal !== undefined && reached !== undefined && { goal, met: reached <= goal.atMost }),
    measured
  }
}

const measuredOf = (
  { name: contender, kind, version }: Contender,
  times: ReadonlyArray<number>,
  floor: number,
  runs: number
): Measured => {
  const median = quantile(times, 0.5)
  const [lowerQuartile, upperQuartile] = [quantile(times, 0.25), quantile(times, 0.75)]
  const figures = { contender, kind, median, lowerQuartile, upperQuartile, ratio: median / floor, runs }
  return version === undefined ? figures : { ...figures, version }
}

// Enough runs that a turn takes some milliseconds: the clock and the scheduler then matter little.
const runsFor = async (contender: Contender, turnMs: number): Promise<number> => {
  let count = 1
  for (;;) {
    const elapsed = (await timeOf(contender, count)) * count
    if (elapsed > (turnMs * 1e6) / 4 || count > 1e6) return Math.max(1, Math.round((count * turnMs * 1e6) / elapsed))
    count *= 4
  }
}

const timeOf = async ({ run }: Contender, count: number): Promise<number> => {
  const start = process.hrtime.bigint()
  for (let index = 0; index < count; index++) {
    const answer = run()
    if (answer instanceof Promise) await answer
  }
  return Number(process.hrtime.bigint() - start) / count
}

const quantile = (values: ReadonlyArray<number>, at: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
}
