import type { ApprovalRequest } from "@haft/core"

/**
 * How much of a workspace runs without a question. `plan` lets calls read and nothing else, `ask` leaves it to the
 * contract, `accept-edits` lets undoable changes of files run, `auto` also commands that a sandbox without network keeps
 * undoable.
 */
export const approvalModes = ["plan", "ask", "accept-edits", "auto"] as const
export type ApprovalMode = (typeof approvalModes)[number]

export interface ModeLimits {
  /** Files that one call may delete without a question. */
  readonly deletedFiles: number
}

export const standardModeLimits: ModeLimits = { deletedFiles: 10 }

/** Undo keeps far more than this of one call; what is larger is asked about instead of being relied on. */
const mostReplacedBytes = 64 * 1024 * 1024

export interface ModeSettings {
  readonly limits: ModeLimits
  /** True if the programs of a command line only read, as far as their names tell. */
  readonly onlyReads: (line: string) => boolean
}

/** Decision of a mode about a call: allow, deny or none, with the reason. */
export type ModeVerdict =
  | { readonly decision: "allow" | "deny"; readonly reason: string }
  /** The contract decides; `because` says why the mode spares no question, where that is worth telling. */
  | { readonly decision: "none"; readonly because?: string }

/**
 * Decides about a call by the mode of the workspace. Never spares a question about protected paths, hosts, terminals,
 * deletes beyond the limit or what can't be undone.
 */
export const decideByMode = (
  mode: ApprovalMode,
  request: ApprovalRequest,
  { limits, onlyReads }: ModeSettings
): ModeVerdict => {
  if (mode === "ask") return { decision: "none" }
  if (mode === "plan") {
    return isReading(request, onlyReads)
      ? { decision: "none" }
      : { decision: "deny", reason: "mode plan: calls that change or run something are refused" }
  }
  const { facts } = request
  const obstacle = obstacleTo(request, limits)
  if (obstacle !== undefined) return { decision: "none", because: `mode ${mode} asks: ${obstacle}` }
  if (facts.runs !== undefined) {
    if (isReadingCommand(request, onlyReads))
      return { decision: "allow", reason: `mode ${mode}: the command only reads` }
    if (mode !== "auto") return { decision: "none" }
    return facts.confined === "overlay"
      ? { decision: "allow", reason: "mode auto: the command is sandboxed, without network and can be undone" }
      : { decision: "none", because: "mode auto asks: what the command changes can't be undone here" }
  }
  return facts.writes.length > 0
    ? { decision: "allow", reason: `mode ${mode}: the change is inside the workspace and can be undone` }
    : { decision: "none" }
}

/** True if a mode spares questions about commands that only read, in a sandbox and without network. */
export const sparesReading = (mode: ApprovalMode, { facts }: ApprovalRequest): boolean =>
  (mode === "accept-edits" || mode === "auto") && facts.confined !== undefined && facts.network !== true

const isReading = (request: ApprovalRequest, onlyReads: ModeSettings["onlyReads"]): boolean => {
  const { writes, types, risk, fetches, connects, runs } = request.facts
  if (connects !== undefined) return true
  if (writes.length > 0 || types !== undefined) return false
  if (runs !== undefined) return risk === "read_only" || isReadingCommand(request, onlyReads)
  return risk === "read_only" || fetches !== undefined
}

/** A command that is held in a sandbox without network, and can't change the workspace or is known not to. */
const isReadingCommand = ({ facts }: ApprovalRequest, onlyReads: ModeSettings["onlyReads"]): boolean => {
  const { runs, confined, network, connects, writes } = facts
  if (runs === undefined || connects !== undefined || confined === undefined || network === true || writes.length > 0)
    return false
  return confined === "read_only" || onlyReads(runs)
}

/** Why no mode spares the question about a call. */
const obstacleTo = ({ facts, openWorld }: ApprovalRequest, { deletedFiles }: ModeLimits): string | undefined => {
  if (facts.writes.some(({ isProtected }) => isProtected)) return "it changes a protected path"
  if (facts.fetches !== undefined || facts.connects !== undefined) return "no rule allows this host"
  if (facts.network === true) return "the command may use the network"
  if (facts.types !== undefined) return "what is typed into a terminal can't be undone"
  if (openWorld === true) return "it reaches beyond this machine"
  const { removedFiles = 0, replacedBytes = 0 } = facts
  if (removedFiles > deletedFiles) return `it deletes or moves ${removedFiles} files, more than ${deletedFiles}`
  if (replacedBytes > mostReplacedBytes) return "it replaces more than undo is sure to keep"
  return undefined
}

/** The mode of a workspace, which can be changed while calls run. */
export interface ModeSwitch {
  readonly current: () => ApprovalMode
  readonly set: (mode: ApprovalMode) => void
}

export const modeSwitch = (initial: ApprovalMode = "ask"): ModeSwitch => {
  let mode = initial
  return {
    current: () => mode,
    set: (next) => {
      mode = next
    }
  }
}
