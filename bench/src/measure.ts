import type { Absent, Benchmark, Contender, Measured, Result, Setting } from "./benchmark.ts"

/** Checks the answers of all contenders, lets them take turns, and computes medians and ratios. */
export const measure = async (benchmark: Benchmark, { quick }: Setting): Promise<Result> => {
  const { group, name, size, floor, measures = "time", absent = [], ifMissed } = benchmark
  const plan = quick ? quickPlan : wholePlan
  const contestants: Array<Contestant> = []
  const wrong: Array<Absent> = []
  for (const contender of benchmark.contenders) {
    try {
      contestants.push(await prepare(contender, benchmark, plan))
    } catch (error) {
      // If a peer fails, that is a result. If haft or a limit does, the benchmark is wrong.
      if (contender.kind !== "peer") throw error
      const { name, version = "" } = contender
      wrong.push({ name: `${name} ${version}`.trim(), reason: `wrong answer: ${(error as Error).message}` })
    }
  }
  for (let round = 0; round < plan.rounds; round++) {
    // Another contender begins each round, so that none always comes first or after the same one.
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
 * The length of a turn, of the warm-up before the first, the number of turns, and the time after which a slow contender
 * takes fewer. Servers are warmed up for longer, because V8 still compiles their code after some thousand calls.
 */
const wholePlan = { turnMs: 50, warmUpMs: 500, serverWarmUpMs: 3000, rounds: 15, shareMs: 2000, hasGoals: true }
/** Without goals, which hold for the full sizes only. */
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

// A contender that has used up its time takes no more turns, but at least five, or fewer if a turn takes seconds.
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

// How many runs make a turn of this length: long enough that the clock and the scheduler matter little.
const runsFor = async (contender: Contender, inFlight: number, turnMs: number): Promise<number> => {
  for (let count = inFlight; ; count *= 4) {
    const elapsedMs = ((await timeOf(contender, count, inFlight)) * count) / 1e6
    if (elapsedMs > turnMs / 4 || count > 1e6) return Math.max(inFlight, Math.round((count * turnMs) / elapsedMs))
  }
}

/** The nanoseconds per run. */
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
