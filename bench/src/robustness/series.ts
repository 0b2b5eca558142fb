import { type Contenders, editContenders, envelopeContenders, unifiedContenders } from "./contenders.ts"
import type { Sample } from "./corpus.ts"
import type { Damaged, DamageClass } from "./damage.ts"
import { type Edit, editDamage } from "./edit-damage.ts"
import { envelopeDamage, unifiedDamage } from "./patch-damage.ts"
import { Random } from "./random.ts"
import { type Outcome, runCase, type Verdict } from "./run-case.ts"

/** One format of requests, with its kinds of damage and everybody who takes requests of that format. */
interface Format<Request> {
  readonly name: string
  readonly classes: ReadonlyArray<DamageClass<Request>>
  readonly contenders: (home: string | undefined) => Promise<Contenders<Request>>
  readonly show: (request: Request) => string
}

export interface SeriesOptions {
  readonly samples: Iterable<Sample>
  readonly seed: string
  /** How many cases each class has, if the corpus has as many. */
  readonly cases: number
  /** Where peers are installed; nothing is fetched without it. */
  readonly home: string | undefined
}

export interface ClassResult extends Pick<DamageClass<unknown>, "name" | "isAmbiguous" | "isSpacing"> {
  /** The verdicts of all cases, by contender. */
  readonly verdicts: ReadonlyMap<string, ReadonlyArray<Verdict>>
  /** The commits that the cases are made of. */
  readonly commits: ReadonlyArray<string>
}

/** A case with what each contender made of it. */
export interface ShownCase {
  readonly commit: string
  readonly damaged: Damaged<string>
  readonly outcomes: ReadonlyMap<string, Outcome>
}

/** A format that is ready to be tried. */
export interface Series {
  readonly name: string
  readonly classNames: ReadonlyArray<string>
  readonly run: (options: SeriesOptions, isWanted: (name: string) => boolean) => Promise<SeriesResult>
  readonly show: (options: SeriesOptions, name: string, number: number) => Promise<ShownCase | undefined>
}

export interface SeriesResult extends Pick<Contenders<unknown>, "absent"> {
  readonly name: string
  readonly classes: ReadonlyArray<ClassResult>
}

const seriesOf = <Request>(format: Format<Request>): Series => ({
  name: format.name,
  classNames: format.classes.map(({ name }) => name),
  run: async (options, isWanted) => {
    const { present, absent } = await format.contenders(options.home)
    const classes: Array<ClassResult> = []
    for (const { damage, ...about } of format.classes.filter(({ name }) => isWanted(name))) {
      const verdicts = new Map(present.map(({ name }) => [name, [] as Array<Verdict>]))
      const commits: Array<string> = []
      for (const { commit, damaged } of casesOf(format, { damage, ...about }, options)) {
        commits.push(commit)
        for (const contender of present) verdicts.get(contender.name)?.push((await runCase(contender, damaged)).verdict)
      }
      classes.push({ ...about, verdicts, commits })
    }
    for (const { close } of present) await close?.()
    return { name: format.name, classes, absent }
  },
  show: async (options, name, number) => {
    const ofName = format.classes.find((one) => one.name === name)
    const found = ofName && [...casesOf(format, ofName, { ...options, cases: number + 1 })][number]
    if (found === undefined) return undefined
    const { present } = await format.contenders(options.home)
    const outcomes = new Map<string, Outcome>()
    for (const contender of present) outcomes.set(contender.name, await runCase(contender, found.damaged))
    for (const { close } of present) await close?.()
    return { ...found, outcomes, damaged: { ...found.damaged, request: format.show(found.damaged.request) } }
  }
})

/** The cases of a class: one for each sample that can be damaged that way. */
function* casesOf<Request>(
  format: Format<Request>,
  { name, damage }: DamageClass<Request>,
  { samples, seed, cases }: SeriesOptions
): Generator<{ readonly commit: string; readonly damaged: Damaged<Request> }> {
  let made = 0
  for (const sample of samples) {
    if (made === cases) return
    const damaged = damage(sample, new Random(`${seed} ${format.name} ${name} ${sample.commit}`))
    if (damaged === undefined) continue
    made++
    yield { commit: sample.commit, damaged }
  }
}

export const allSeries: ReadonlyArray<Series> = [
  seriesOf<string>({
    name: "unified",
    classes: unifiedDamage,
    contenders: async () => unifiedContenders(),
    show: (patch) => patch
  }),
  seriesOf<string>({
    name: "envelope",
    classes: envelopeDamage,
    contenders: envelopeContenders,
    show: (patch) => patch
  }),
  seriesOf<Edit>({
    name: "edit",
    classes: editDamage,
    contenders: editContenders,
    show: ({ path, find, replace }) => `path: ${path}\n=== find\n${find}\n=== replace\n${replace}\n`
  })
]
