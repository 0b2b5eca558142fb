import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"

import { type Approver, Host, type Reply } from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

import { differs, show } from "./differs.ts"
import { scriptedApprover } from "./scripted-approver.ts"
import { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts"

/** One promise of a contract, as data: `contracts/<dialect>/cases/<tool>/<case>.json`. */
export interface ContractCase {
  readonly dialect: string
  readonly tool: string
  /** The file's name: a few words on what the case shows. */
  readonly name: string
  readonly workspace: Readonly<Record<string, Fixture>>
  /**
   * Calls made before the one that is tested. Later parameters can use values of their replies, see {@link filledIn}.
   */
  readonly before: ReadonlyArray<{ readonly tool: string; readonly params: unknown }>
  readonly params: unknown
  /** Answer of a person when asked. */
  readonly approve: boolean
  /** True if a person must have been asked, false if not. */
  readonly asked?: boolean
  /** The envelope, with matchers where a value can't be known: see {@link differs}. */
  readonly reply: unknown
  /** The reply as text, where the case says it: what a model reads. */
  readonly text?: unknown
  /** How the program that the contract follows answers, where haft answers otherwise on purpose. */
  readonly differs?: { readonly peer: string; readonly because: string }
  /** The content of files afterwards, null for one that must not exist. All other files must be unchanged. */
  readonly files: Readonly<Record<string, string | null>>
}

/** Builds the host a case is played on. */
export type CaseHost = (workspace: TemporaryWorkspace, approver: Layer.Layer<Approver>) => Layer.Layer<Host, unknown>

/** Reads the cases of one dialect from a `contracts` directory, for some tools or for all. */
export const loadCases = (
  contracts: string,
  dialect: string,
  tools?: ReadonlyArray<string>
): ReadonlyArray<ContractCase> => {
  const directory = join(contracts, dialect, "cases")
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => readCase(directory, dialect, file))
    .filter(({ tool }) => tools === undefined || tools.includes(tool))
}

/** Plays a case. Throws an error that says what is different from what the case expects. */
export const playCase = async (contractCase: ContractCase, host: CaseHost): Promise<Reply> => {
  using workspace = temporaryWorkspace(contractCase.workspace)
  const approver = scriptedApprover(() => ({ approved: contractCase.approve }))
  const conversation = Effect.gen(function* () {
    const { call } = yield* Host
    const earlier: Array<unknown> = []
    const filled = (value: unknown): unknown => withRoot(filledIn(value, earlier), workspace.root)
    for (const { tool, params } of contractCase.before) earlier.push((yield* call(tool, filled(params))).wire)
    const askedBefore = approver.questions.length
    const found = treeOf(workspace.root)
    const reply = yield* call(contractCase.tool, filled(contractCase.params), { requestId: "case" })
    const asked = approver.questions.length > askedBefore
    return { reply, expected: filled(contractCase.reply), expectedText: filled(contractCase.text), asked, found }
  })
  const { reply, expected, expectedText, asked, found } = await Effect.runPromise(
    Effect.scoped(conversation.pipe(Effect.provide(host(workspace, approver.layer))))
  )
  const title = `${contractCase.dialect} ${contractCase.tool}: ${contractCase.name}`
  const difference = differs(expected, reply.wire)
  if (difference !== undefined) {
    throw new Error(`${title}\n${difference}\nexpected ${show(expected)}\nreceived ${show(reply.wire)}`)
  }
  const textDifference = expectedText === undefined ? undefined : differs(expectedText, reply.text, "text")
  if (textDifference !== undefined) throw new Error(`${title}\n${textDifference}`)
  if (contractCase.asked !== undefined && contractCase.asked !== asked) {
    throw new Error(`${title}\na person was ${asked ? "" : "not "}asked`)
  }
  for (const [path, content] of Object.entries(contractCase.files)) {
    const now = isNamed(join(workspace.root, path)) ? workspace.read(path) : null
    if (now !== content) throw new Error(`${title}\n${path} holds ${show(now)}, not ${show(content)}`)
  }
  const left = treeOf(workspace.root)
  const paths = new Set([...found.keys(), ...left.keys()])
  const unsaid = [...paths].filter((path) => found.get(path) !== left.get(path) && !(path in contractCase.files))
  if (unsaid.length > 0) throw new Error(`${title}\nthe case does not say what becomes of ${unsaid.join(", ")}`)
  return reply
}

/** Tests for a file of exactly this name, also on file systems that ignore case. */
const isNamed = (path: string): boolean => existsSync(path) && readdirSync(dirname(path)).includes(basename(path))

/** All files with a hash of their content, and all links with their target. */
const treeOf = (root: string): ReadonlyMap<string, string> => new Map(entriesOf(root, ""))

const entriesOf = (root: string, below: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) return entriesOf(root, path)
    if (entry.isSymbolicLink()) return [[path, `link to ${readlinkSync(join(root, path))}`] as const]
    if (!entry.isFile()) return []
    return [
      [
        path,
        createHash("sha256")
          .update(readFileSync(join(root, path)))
          .digest("hex")
      ] as const
    ]
  })

/**
 * Replaces `{ "$earlier": "0.result.id" }` in the values of a case by `result.id` of the reply to its first call, for
 * names that only the host knows.
 */
const filledIn = (value: unknown, earlier: ReadonlyArray<unknown>): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => filledIn(item, earlier))
  const { $earlier: path } = value as { readonly $earlier?: unknown }
  if (typeof path !== "string") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner, earlier)]))
  }
  const found = path
    .split(".")
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], earlier)
  if (found === undefined) throw new Error(`there is no ${path} in the earlier replies ${show(earlier)}`)
  return found
}

/** Replaces `$ROOT` in texts by the workspace's directory, for contracts that speak of absolute paths. */
const withRoot = (value: unknown, root: string): unknown => {
  if (typeof value === "string") return value.replaceAll("$ROOT", root)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withRoot(item, root))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRoot(inner, root)]))
}

const caseKeys = new Set(["workspace", "before", "params", "approve", "asked", "reply", "text", "differs", "files"])

const readCase = (directory: string, dialect: string, file: string): ContractCase => {
  const [tool = ""] = file.split(/[/\\]/)
  const written = JSON.parse(readFileSync(join(directory, file), "utf8")) as Partial<ContractCase>
  if (!("params" in written) || !("reply" in written)) throw new Error(`${file}: a case needs params and reply`)
  const unknown = Object.keys(written).find((key) => !caseKeys.has(key))
  if (unknown !== undefined)
    throw new Error(`${file}: nothing reads '${unknown}'; a case has ${[...caseKeys].join(", ")}`)
  return {
    workspace: {},
    before: [],
    approve: true,
    files: {},
    params: written.params,
    reply: written.reply,
    ...written,
    dialect,
    tool,
    name: basename(file, ".json").replaceAll("-", " ")
  }
}
