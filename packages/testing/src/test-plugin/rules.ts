import { basename, isAbsolute } from "node:path"
import { isDeepStrictEqual } from "node:util"

import type { Facts, Reply } from "@haft/core"
import * as z from "zod"

import { escapes, leaks } from "./escapes.ts"
import { attached, leftovers } from "./leftovers.ts"
import type { PluginRule } from "./report.ts"
import { leftOut, propertiesOf, wrongArguments } from "./sample-arguments.ts"
import type { ToolUnderTest, Trial } from "./test-plugin.ts"
import { changedBetween, snapshot } from "./watch-workspace.ts"

type Found = ReadonlyArray<readonly [PluginRule, string]>
type Rule = (under: ToolUnderTest) => Promise<Found>

const found = (rule: PluginRule, isSo: boolean, problem: string): Found => (isSo ? [[rule, problem]] : [])

const schema: Rule = async ({ tool, refusals }) => {
  const properties = Object.entries(propertiesOf(tool.inputSchema))
  const bare = properties.filter(([, property]) => property["description"] === undefined).map(([key]) => key)
  return [
    ...refusals.map((refusal) => ["schema", refusal] as const),
    ...found("schema", tool.description.trim() === "", "it has no description, so no model knows its use"),
    ...bare.map((key) => ["schema", `its parameter '${key}' has no description: add .describe(…)`] as const)
  ]
}

const parameters: Rule = ({ tool, own, example, trial }) =>
  trial(async ({ host, workspace }) => {
    const before = snapshot(workspace.root)
    const problems: Array<readonly [PluginRule, string]> = []
    for (const { args, wrong } of wrongArguments(tool.inputSchema, own, example.args)) {
      const { ok, error } = await host.call(tool.name, args)
      if (ok) problems.push(["parameters", `it takes a call ${wrong}: use z.strictObject and exact types`])
      else if (error?.code !== "invalid_params") {
        problems.push(["parameters", `a call ${wrong} ends in ${error?.code}, not in invalid_params`])
      }
    }
    for (const { key, without, meant } of leftOut(tool.inputSchema, own, example.args)) {
      const decoded = await host.decode(tool.name, without)
      if (isDeepStrictEqual(decoded, await host.decode(tool.name, meant))) continue
      problems.push([
        "parameters",
        `a call without '${key}', published as required, means something else than its default`
      ])
    }
    const changed = changedBetween(before, snapshot(workspace.root))
    if (changed.length > 0) problems.push(["parameters", `calls that do not fit change ${changed.join(", ")}`])
    return problems
  })

const touches: Rule = ({ tool, example, trial, mostCharacters }) =>
  trial(async ({ host, workspace, watch }) => {
    const { facts } = await host.preview(tool.name, example.args)
    const before = snapshot(workspace.root)
    const beforeOutside = snapshot(workspace.outside)
    watch.reads.clear()
    const reply = await host.call(tool.name, example.args)
    const changed = changedBetween(before, snapshot(workspace.root))
    const outside = changedBetween(beforeOutside, snapshot(workspace.outside))
    const runs = facts.runs !== undefined || facts.types !== undefined
    const undeclared = runs ? [] : changed.filter((path) => !isWithin(path, writesOf(facts)) && !isAbove(path, facts))
    const read = [...watch.reads].filter((path) => !isWithin(path, [...facts.reads, ...writesOf(facts)]))
    return [
      ...undeclared.map((path) => ["touches", `it changed ${path}, which its touches do not name as written`] as const),
      ...found(
        "touches",
        tool.risk === "read_only" && changed.length > 0,
        `it says it is read_only, and changed ${changed.join(", ")}`
      ),
      ...outside.map((path) => ["touches", `it changed ${path} outside the workspace`] as const),
      ...read.map((path) => ["touches", `it read ${path}, which its touches do not name`] as const),
      ...(runs ? [] : watch.runs)
        // A read_only tool may read its declared files with a program of its own package, such as ripgrep.
        .filter(
          ({ program }) => tool.risk !== "read_only" || facts.reads.length === 0 || !isOwn(program, workspace.root)
        )
        .map(({ commandLine }) => {
          return ["touches", `it ran '${commandLine.slice(0, 80)}', and its touches name no command`] as const
        }),
      ...replyProblems(tool, reply, mostCharacters)
    ]
  })

// True for a program that was installed with a package, so that neither callers nor the machine choose it, and is not one
// that runs other programs.
const isOwn = (program: string, root: string): boolean =>
  isAbsolute(program) &&
  program.includes("/node_modules/") &&
  !program.startsWith(`${root}/`) &&
  !runsOthers.test(basename(program))

const runsOthers =
  /^(?:(?:ba|da|z|k|fi|c|tc)?sh|busybox|env|xargs|find|git|sudo|perl|ruby|php|awk|node|deno|bun|python[\d.]*)(?:\.exe)?$/

const writesOf = ({ writes }: Facts): ReadonlyArray<string> => writes.map(({ path }) => path)

const isWithin = (path: string, declared: ReadonlyArray<string>): boolean =>
  declared.some((one) => one === "." || path === one || path.startsWith(`${one}/`))

// True for a directory above a declared file, which had to be made for it.
const isAbove = (path: string, facts: Facts): boolean => writesOf(facts).some((one) => one.startsWith(`${path}/`))

const replyProblems = (tool: ToolUnderTest["tool"], reply: Reply, mostCharacters: number): Found => {
  const size = Math.max(JSON.stringify(reply.wire).length, reply.text.length)
  const fits = z.fromJSONSchema(tool.replySchema).safeParse(reply.wire)
  const code = reply.error?.code
  return [
    ...found("output", size > mostCharacters, `its reply has ${size} characters: clip it`),
    ...found(
      "reply",
      !fits.success,
      `its reply does not fit the schema it publishes: ${fits.error?.issues[0]?.message}`
    ),
    ...found("errors", code === "internal_error", "it fails by a bug: fail with a ToolError where callers can mend it")
  ]
}

const paths: Rule = ({ tool, example, trial, mostCharacters }) =>
  trial(async ({ host, workspace }) => {
    const { facts } = await host.preview(tool.name, example.args)
    const keys = Object.keys(propertiesOf(tool.inputSchema)).filter((key) => isPath(key, example.args[key], facts))
    const problems = new Map<string, readonly [PluginRule, string]>()
    const before = snapshot(workspace.outside)
    for (const key of keys) {
      for (const escape of escapes(workspace.outside)) {
        const value = Array.isArray(example.args[key]) ? [escape] : escape
        const reply = await host.call(tool.name, { ...example.args, [key]: value })
        const shown = JSON.stringify(escape).replaceAll(workspace.outside, "<outside>")
        if (leaks(JSON.stringify(reply.wire)) || leaks(reply.text)) {
          problems.set(`${key} leak`, ["paths", `with '${key}' as ${shown} it shows what lies outside the workspace`])
        }
        if (changedBetween(before, snapshot(workspace.outside)).length > 0) {
          problems.set(`${key} change`, [
            "paths",
            `with '${key}' as ${shown} it changes what lies outside the workspace`
          ])
        }
        for (const one of replyProblems(tool, reply, mostCharacters)) problems.set(one.join(), one)
      }
    }
    return [...problems.values()]
  })

const isPath = (key: string, value: unknown, { reads, writes }: Facts): boolean => {
  const named = [...reads, ...writes.map(({ path }) => path)]
  const values = [value].flat().filter((one): one is string => typeof one === "string")
  return values.some((one) => named.includes(one)) || /(^|_)(path|file|dir|directory|cwd|paths|files)$/i.test(key)
}

const cancellation: Rule = async ({ tool, example, trial }) => {
  const stopAfter = async ({ host, workspace, close }: Trial, delayMs: number): Promise<Found> => {
    const before = attached(workspace.root)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(performance.now()), delayMs)
    const isCancelled = await host.call(tool.name, example.args, { signal: controller.signal }).then(
      () => false,
      () => true
    )
    clearTimeout(timer)
    if (!isCancelled) return []
    const took = performance.now() - (controller.signal.reason as number)
    const then = snapshot(workspace.root)
    const left = example.lasts === true ? [] : await leftovers(() => attached(workspace.root), before)
    const leftByHost = await close(left)
    const changed = changedBetween(then, snapshot(workspace.root))
    return [
      ...found("cancellation", took > 1000, `it went on for ${Math.round(took)} ms after it was cancelled`),
      ...found("cancellation", changed.length > 0, `cancelled, it went on and changed ${changed.join(", ")}`),
      ...[...left, ...leftByHost].map((what) => ["leftovers", `cancelled, it leaves ${what}`] as const)
    ]
  }
  // Cancelled once before the tool has begun, and if that is fine, once while it works. Tried three times, because a
  // busy machine may be late.
  for (const delayMs of [5, 200]) {
    let last: Found = []
    for (let tries = 0; tries < 3 && (tries === 0 || last.length > 0); tries++) {
      last = await trial((one) => stopAfter(one, delayMs))
    }
    if (last.length > 0) return last
  }
  return []
}

const idempotence: Rule = ({ tool, example, trial }) =>
  trial(async ({ host, workspace, close }) => {
    await host.call(tool.name, example.args)
    const once = snapshot(workspace.root)
    const second = tool.idempotent ? await host.call(tool.name, example.args) : undefined
    const changed = changedBetween(once, snapshot(workspace.root))
    const left = await close()
    const claim = "it says it is idempotent, and"
    return [
      ...left.map((what) => ["leftovers", `once the host is closed, it leaves ${what}`] as const),
      ...found("idempotence", second?.ok === false, `${claim} fails the second time with ${second?.error?.code}`),
      ...found(
        "idempotence",
        second !== undefined && changed.length > 0,
        `${claim} a second call changes ${changed.join(", ")}`
      )
    ]
  })

const output: Rule = async ({ tool, example, trial, mostCharacters }) => {
  const { facts } = await trial(({ host }) => host.preview(tool.name, example.args))
  const read = facts.reads.find((path) => path !== "." && path.includes("."))
  if (read === undefined) return []
  const line = "line {n} of a file that is much too long to be read as a whole\n"
  // Larger than a reply may be, even if the tool leaves some of it out.
  const times = Math.ceil((1.2 * mostCharacters + 9_200_000) / 70)
  return trial(
    async ({ host, workspace }) => {
      if (snapshot(workspace.root).get(read) === "directory") return []
      const reply = await host.call(tool.name, example.args)
      const size = Math.round((times * 70) / 1e6)
      return replyProblems(tool, reply, mostCharacters).map(
        ([rule, problem]) => [rule, `with a file of ${size} MB: ${problem}`] as const
      )
    },
    { [read]: { repeat: line, times } }
  )
}

const all =
  (rules: ReadonlyArray<Rule>): Rule =>
  async (under) => {
    const problems: Array<readonly [PluginRule, string]> = []
    for (const rule of rules) problems.push(...(await rule(under)))
    return problems
  }

/** Rules for every tool, and rules that can only be tested with a call that succeeds. */
export const rules = {
  always: all([schema, parameters]),
  whenItWorks: all([touches, paths, cancellation, idempotence, output])
}
