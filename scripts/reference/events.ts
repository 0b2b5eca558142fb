import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type HaftConfig, type JournalEvent, openRules, openWorkspace, readRun } from "haft/internal"
import { openHost } from "haft/promise"

import { markdownTable } from "./table.ts"

/**
 * The page about the events of the record, with examples from real calls. Fails for a field that is not explained here.
 */
export const eventsPage = async (): Promise<string> => {
  const events = await recorded()
  const types = [...new Set(events.map(({ type }) => type))]
  const known = [...new Set(events.flatMap(fieldsOf))]
  const unexplained = known.filter((field) => !Object.hasOwn(fields, field))
  if (unexplained.length > 0) throw new Error(`scripts/reference/events.ts does not explain ${unexplained.join(", ")}`)
  const missing = Object.keys(moments).filter((type) => !types.includes(type))
  if (missing.length > 0) throw new Error(`no call here leaves ${missing.join(", ")} any more`)
  const unseen = Object.keys(fields).filter((field) => !known.includes(field))
  if (unseen.length > 0) throw new Error(`no call here leaves ${unseen.join(", ")} any more`)
  const always = Object.keys(fields).filter((field) => events.every((event) => valueOf(event, field) !== undefined))
  return [
    "What is on record of a run: `events.jsonl`, one event a line, as `haft log --json`, `GET …/events` and `subscribe` give",
    "it too. Later versions may add types and fields.\n",
    "A text of more than 64 KiB in `params` or `reply` is kept as an artifact of the run, named by its SHA-256, and",
    '`{"artifact": "contents/<sha256>", "bytes": …, "kept_as": "text"}` stands in its place; what is larger than 1 MiB',
    "without such texts is kept whole, as JSON. Any other field of more than 64 KiB shows the first entries of its lists,",
    "and is whole in such an artifact, which a field beside it names: `touches_whole` for `touches`.\n",
    "Every event has:\n",
    fieldTable(always, events),
    ...types.map((type) => {
      const own = events.filter((event) => event.type === type)
      const seen = Object.keys(fields).filter(
        (field) => !always.includes(field) && own.some((event) => valueOf(event, field) !== undefined)
      )
      return `\n## ${type}\n\n${moments[type] ?? unknownType(type)}\n\n${fieldTable(seen, own)}`
    })
  ].join("\n")
}

const moments: Readonly<Record<string, string>> = {
  tool_call_started: "A call has arrived; written before anything else happens.",
  mode_changed: "A person has changed how much runs without a question.",
  approval_requested: "A person is asked.",
  approval_decided:
    "A person has answered or nobody has, or a rule or the policy said no. What these two allow has no event of its own: `approval` of the call's end tells it.",
  sandbox_chosen: "A command is about to run, and this holds it back.",
  artifact_read: "A client has read an artifact as a resource, not through a tool; or was refused.",
  branch_changed:
    "A branch was created, dropped, or opened and closed for a program. A merge is a call of `merge_branch`.",
  command_effects:
    "A command that ran on an overlay has ended, and this became of what it changed. Nothing of it was in the workspace before.",
  control_files_changed:
    "A command made or changed files that other programs run or trust; those with a `quarantine` were moved there. For a terminal it is written when that is closed, with `terminal` and `command` instead of the call's fields.",
  connection_opened:
    "A command in a sandbox has connected to a host, or a web tool fetches from one under a network policy; written before its first byte is sent.",
  connection_closed: "That connection has ended.",
  connection_refused:
    "A connection was refused. Repetitions of the same one are written together when the command ends, with `repeated`.",
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
  files: "the control files: `path`, `reason`, and `quarantine`, where each of them is now",
  operation: "the operation that the tool words, the same in every dialect",
  dialect: "the contract that was spoken",
  caller: "who called: the name and the role of a token; only of servers",
  person: "who decided: the name and the role of a token; only of servers",
  params: "the arguments, secrets replaced; on a decision, those that a person changed them to",
  reason: "why it is asked, or why it was decided so",
  decision: "`allow` or `deny`",
  rule: "the rule that decided, or wants a person",
  basis:
    "what the policy went by, which is why a person was asked or not: `rule`, `protected_path`, `mode`, `setting`, `contract`, or `error` where it could not judge",
  diff: "the change that a person approved or refused, secrets replaced; with changed arguments, the change that these make",
  from: "the mode before",
  to: "the mode from now on",
  by: "who decided: `policy`, `person`, or `nobody` where a question was not answered; of a connection, what allowed it: an entry of `network.allow`, a rule, a person",
  host: "the host, as its canonical name or address",
  port: "its port",
  protocol:
    "how the command came to haft: `connect` (HTTP CONNECT), `http`, `websocket`, `socks`, or `direct` for a program that knows no proxy",
  bytes_sent: "bytes to the host",
  bytes_received: "bytes from the host",
  repeated: "how often the same refusal came again",
  kind: "the sandbox",
  isolated: "whether it holds anything back",
  overlay: "whether the command runs on an overlay of the workspace",
  no_overlay: "why it writes to the workspace directly",
  outcome: "what became of the changes: `committed`, `unchanged`, `dropped`, or `refused` with an `error`",
  created: "how many paths were created",
  modified: "how many were modified",
  deleted: "how many were deleted",
  paths: "the first of them, each with its `kind`",
  branch: "name of the branch",
  action: "`created`, `dropped`, `opened` or `closed`",
  undoable: "false where undo can't take the changes back, because what they replaced is too large to keep",
  diff_path: "address of the artifact with the diff",
  address: "address of the artifact",
  bytes: "bytes that were read",
  left_out: "what could not be committed, each with the `reason`: pipes, sockets, names that are not UTF-8",
  changed_files: "the files that were changed",
  patch_size_bytes: "the size of the patch",
  artifact: "where the patch is kept, below the run",
  status: "`success` or `error`",
  error: "the code, where it failed",
  duration_sec: "how long it took",
  waited_sec: "how much of that its questions were open; absent where nobody was asked",
  touches: "what the call was going to do, as it was judged; absent where it did not come to that",
  "touches.risk": "`read_only`, `safe_write` or `dangerous`",
  "touches.reads": "paths that it reads",
  "touches.writes": "paths that it writes, and whether there is something already",
  "touches.directories": "those of the paths that are directories: what is done to one is done to all below it",
  "touches.runs": "the command line",
  "touches.network": "true where the command may use the network",
  "touches.confined":
    "how a sandbox confines the command: `read_only` can't change the workspace, `overlay` changes a copy, `workspace` changes it",
  "touches.removedFiles": "how many files are deleted or moved, below directories too",
  "touches.replacedBytes": "the size of the files that are changed or deleted",
  "touches.fetches": "the URL",
  "touches.types": "the terminal that it types into",
  approval: "how it was decided; absent where it did not come to that",
  "approval.decision": "`allow` or `deny`",
  "approval.by": "who, as on a decision",
  "approval.reason": "why",
  "approval.asks": "whether the contract wants a person for this",
  "approval.rule": "the rule that decided, or wants a person",
  "approval.basis": "what the policy went by, as on a decision",
  "approval.person": "who decided: the name and the role of a token; only of servers",
  reply: "the dialect's envelope, secrets replaced"
}

// These two are told field by field.
const opened = ["touches", "approval"]

const fieldsOf = (event: JournalEvent): ReadonlyArray<string> => [
  ...Object.keys(event),
  ...opened.flatMap((field) => Object.keys(event[field] ?? {}).map((inner) => `${field}.${inner}`))
]

const valueOf = (event: JournalEvent, field: string): unknown => {
  const [outer = "", inner] = field.split(".")
  return inner === undefined ? event[outer] : (event[outer] as JournalEvent | undefined)?.[inner]
}

const unknownType = (type: string): never => {
  throw new Error(`scripts/reference/events.ts does not explain ${type}`)
}

const fieldTable = (names: ReadonlyArray<string>, events: ReadonlyArray<JournalEvent>): string =>
  markdownTable(
    ["field", "type", "what"],
    names.map((name) => {
      const values = events.map((event) => valueOf(event, name)).filter((value) => value !== undefined)
      const types = [...new Set(values.map(typeOf))].toSorted()
      const outer = name.includes(".") ? events.filter((event) => valueOf(event, name.split(".")[0] ?? "")) : events
      const isOptional = values.length < outer.length
      return [`\`${name}\``, `${types.join(" or ")}${isOptional ? ", not always" : ""}`, fields[name] ?? ""]
    })
  )

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "list" : typeof value
}

// Makes a call for each kind of event.
const recorded = async (): Promise<ReadonlyArray<JournalEvent>> => {
  const directory = await mkdtemp(join(tmpdir(), "haft-reference-"))
  try {
    const config: HaftConfig = {
      root: join(directory, "root"),
      state: join(directory, "state"),
      network: { allow: ["example.com"] },
      sandbox: "none"
    }
    await mkdir(join(directory, "root"))
    await writeFile(join(directory, "root/a.txt"), "one\n")
    await (await openRules(config)).add({ id: "keep", tool: "delete_path", decision: "deny" })
    const first = await eventsOf(config, async (host) => {
      const ask = async () => ({ approved: true })
      const askByName = async () => ({ approved: true, by: { name: "alice", role: "approver" } })
      const caller = { name: "ci", role: "agent" }
      await host.call("write_file", { path: "a.txt", content: "two\n" }, { ask: askByName, caller })
      await host.call("run_command", { command: "true" }, { ask })
      await host.call("read_file", { path: "nothing.txt" })
      await host.call("read_file", {})
      const edit = async () => ({ approved: true, modifiedArgs: { path: "c.txt", content: "" } })
      await host.call("write_file", { path: "b.txt", content: "" }, { ask: edit })
      const refuse = async () => ({ approved: false })
      await host.call("run_command", { command: "true", network: true }, { ask: refuse })
      await host.call("fetch_url", { url: "https://docs.example/" }, { ask: refuse })
      const { wire } = await host.call("open_terminal", { command: "echo ready; cat" }, { ask })
      const { terminal_id } = (wire as { readonly result: { readonly terminal_id: string } }).result
      await host.call("write_terminal", { terminal_id, text: "hi" }, { ask: refuse })
      await host.call("delete_path", { path: "a.txt" })
    })
    const workspace = await openWorkspace(config)
    await workspace.setMode("plan", { name: "alice", role: "approver" })
    await workspace.dispose()
    const switched = await readRun(config)
    const second = await eventsOf({ ...config, dialect: "agentbench" }, async (host) => {
      await host.call("apply_patch", { unified_diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n" })
    })
    // Only a sandbox leaves these, and not every machine that makes this page has one.
    const moved = { path: ".envrc", reason: "direnv runs or trusts it", quarantine: "state/quarantine/…/files/.envrc" }
    const held = first.find(({ type }) => type === "sandbox_chosen")
    const { kind: _kind, isolated: _isolated, overlay: _overlay, no_overlay: _why, ...common } = held ?? { type: "" }
    const host = { host: "registry.example", port: 443 }
    const traffic = { bytes_sent: 1800, bytes_received: 52_000, duration_sec: 0.4 }
    const by = "network.allow *.example"
    const connections = [
      { ...common, type: "connection_opened", ...host, protocol: "connect", by, waited_sec: 2.5 },
      { ...common, type: "connection_closed", ...host, ...traffic },
      { ...common, type: "connection_refused", ...host, reason: "network.deny *.example forbids it", repeated: 3 }
    ]
    const read = {
      type: "artifact_read",
      at: held?.["at"],
      address: "artifact:20260101T000000000-1f2e/logs/tool_step_0001_stdout.txt",
      status: "success",
      bytes: 1024
    }
    const branch = { type: "branch_changed", at: held?.["at"], branch: "fix-1", action: "created" }
    const changed = { ...common, type: "control_files_changed", files: [moved] }
    const effects = {
      ...common,
      type: "command_effects",
      outcome: "committed",
      created: 1,
      modified: 0,
      deleted: 0,
      paths: [{ path: "built.txt", kind: "created" }],
      diff_path: "artifact:20260101T000000000-1f2e/diffs/step_0002.patch"
    }
    const pipe = { path: "pipe", reason: "it is a pipe, a socket or a device" }
    const refused = { ...effects, outcome: "refused", paths: [], left_out: [pipe], error: "approval_denied" }
    const forGood = { ...effects, undoable: false }
    const overlays = [effects, refused, forGood]
    return [...first.map(confinedHere), ...switched, ...overlays, read, branch, changed, ...connections, ...second]
  } finally {
    await rm(directory, { recursive: true })
  }
}

// As a sandbox would have it, for the same reason.
const confinedHere = (event: JournalEvent): JournalEvent => {
  const { touches } = event as { readonly touches?: { readonly runs?: string } }
  return touches?.runs === "true" ? { ...event, touches: { ...touches, confined: "read_only" } } : event
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
