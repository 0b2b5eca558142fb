import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type HaftConfig, type JournalEvent, readRun } from "haft"
import { openHost } from "haft/promise"

import { markdownTable } from "./table.ts"

/** The events of the record, as calls that are made here leave them; a field that nobody has explained stops it. */
export const eventsPage = async (): Promise<string> => {
  const events = await recorded()
  const types = [...new Set(events.map(({ type }) => type))]
  const unexplained = [...new Set(events.flatMap(fieldsOf))].filter((field) => !Object.hasOwn(fields, field))
  if (unexplained.length > 0) throw new Error(`scripts/reference/events.ts does not explain ${unexplained.join(", ")}`)
  const missing = Object.keys(moments).filter((type) => !types.includes(type))
  if (missing.length > 0) throw new Error(`no call here leaves ${missing.join(", ")} any more`)
  const always = Object.keys(fields).filter((field) => events.every((event) => field in event))
  return [
    "What is on record of a run: `events.jsonl`, one event a line, as `haft log --json`, `GET …/events` and `subscribe` give",
    "it too. Later versions may add types and fields.\n",
    "Every event has:\n",
    fieldTable(always, events),
    ...types.map((type) => {
      const own = events.filter((event) => event.type === type)
      const seen = Object.keys(fields).filter((field) => !always.includes(field) && own.some((event) => field in event))
      return `\n## ${type}\n\n${moments[type] ?? unknownType(type)}\n\n${fieldTable(seen, own)}`
    })
  ].join("\n")
}

const moments: Readonly<Record<string, string>> = {
  tool_call_started: "A call has arrived; written before anything else happens.",
  approval_requested: "A person is asked.",
  approval_decided: "A policy, a rule or a person has decided.",
  sandbox_chosen: "A command is about to run, and this holds it back.",
  PATCH_APPLIED: "agentbench's own event: its `apply_patch` has changed files.",
  tool_call_finished:
    "The call has ended; written after everything else. For a call whose host died the next one writes it, with `aborted`."
}

const fields: Readonly<Record<string, string>> = {
  type: "which kind of event",
  seq: "the number of the line in its run",
  at: "when, as ISO 8601",
  prev: "the hash of the line before, so that a changed record is noticed",
  hash: "the hash of this line, over all that stands before it",
  request_id: "the call, by the name its caller gave it or one that was made for it",
  step: "the number of the call in its run",
  tool: "the tool's name in the dialect that was spoken",
  dialect: "the contract that was spoken",
  params: "the arguments, secrets replaced; on a decision, those a person changed them to",
  reason: "why it is asked, or why it was decided so",
  decision: "`allow` or `deny`",
  by: "who decided: `policy`, `person`, or `nobody` where a question was not answered",
  rule: "the rule that decided",
  kind: "the sandbox",
  isolated: "whether it holds anything back",
  changed_files: "the files that were changed",
  patch_size_bytes: "the size of the patch",
  artifact: "where the patch is kept, below the run",
  status: "`success` or `error`",
  error: "the code, where it failed",
  duration_sec: "how long it took",
  waited_sec: "how much of that its questions were open; absent where nobody was asked",
  touches: "what the call read, wrote, ran, fetched or typed into",
  approval: "how it was decided",
  reply: "the dialect's envelope, secrets replaced"
}

const fieldsOf = (event: JournalEvent): ReadonlyArray<string> => Object.keys(event)

const unknownType = (type: string): never => {
  throw new Error(`scripts/reference/events.ts does not explain ${type}`)
}

const fieldTable = (names: ReadonlyArray<string>, events: ReadonlyArray<JournalEvent>): string =>
  markdownTable(
    ["field", "type", "what"],
    names.map((name) => {
      const values = events.filter((event) => name in event).map((event) => event[name])
      const types = [...new Set(values.map(typeOf))].toSorted()
      const isOptional = values.length < events.length
      return [`\`${name}\``, `${types.join(" or ")}${isOptional ? ", not always" : ""}`, fields[name] ?? ""]
    })
  )

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "list" : typeof value
}

// One call for each thing that can be on record.
const recorded = async (): Promise<ReadonlyArray<JournalEvent>> => {
  const directory = await mkdtemp(join(tmpdir(), "haft-reference-"))
  try {
    const config: HaftConfig = { root: join(directory, "root"), state: join(directory, "state"), sandbox: "none" }
    await mkdir(join(directory, "root"))
    await writeFile(join(directory, "root/a.txt"), "one\n")
    const first = await eventsOf(config, async (host) => {
      const ask = async () => ({ approved: true })
      await host.call("write_file", { path: "a.txt", content: "two\n" }, { ask })
      await host.call("run_command", { command: "true" }, { ask })
      await host.call("read_file", { path: "nothing.txt" })
    })
    const second = await eventsOf({ ...config, dialect: "agentbench" }, async (host) => {
      await host.call("apply_patch", { unified_diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n" })
    })
    return [...first, ...second]
  } finally {
    await rm(directory, { recursive: true })
  }
}

const eventsOf = async (
  config: HaftConfig,
  use: (host: Awaited<ReturnType<typeof openHost>>) => Promise<void>
): Promise<ReadonlyArray<JournalEvent>> => {
  const host = await openHost(config)
  await use(host)
  await host.dispose()
  return readRun(config)
}
