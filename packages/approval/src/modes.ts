import type { ApprovalRequest, Facts } from "@haft/core"

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

/** What a mode says about a call: it runs, it is refused, or nothing, with the reason. */
export type ModeVerdict =
  | { readonly decision: "allow" | "deny"; readonly reason: string }
  /** The contract decides; `because` says why the mode spares no question, where that is worth telling. */
  | { readonly decision: "none"; readonly because?: string }

/**
 * Decides about a call by the mode of the workspace. Never spares a question about protected paths, hosts, terminals,
 * deletes beyond the limit or what can't be undone.
 */
export const decideByMode = (mode: ApprovalMode, request: ApprovalRequest, limits: ModeLimits): ModeVerdict => {
  if (mode === "ask") return { decision: "none" }
  if (mode === "plan") {
    return isReading(request)
      ? { decision: "none" }
      : { decision: "deny", reason: "mode plan: calls that change or run something are refused" }
  }
  const { facts } = request
  const obstacle = obstacleTo(request, limits)
  if (obstacle !== undefined) return { decision: "none", because: `mode ${mode} asks: ${obstacle}` }
  if (facts.runs !== undefined) {
    if (facts.confined === "read_only") return { decision: "allow", reason: `mode ${mode}: the command can only read` }
    if (mode !== "auto") return { decision: "none" }
    return facts.confined === "overlay"
      ? { decision: "allow", reason: "mode auto: the command is sandboxed, without network and can be undone" }
      : { decision: "none", because: "mode auto asks: what the command changes can't be undone here" }
  }
  return facts.writes.length > 0
    ? { decision: "allow", reason: `mode ${mode}: the change is inside the workspace and can be undone` }
    : { decision: "none" }
}

const isReading = ({ facts }: ApprovalRequest): boolean =>
  facts.writes.length === 0 &&
  facts.types === undefined &&
  (facts.risk === "read_only" || facts.fetches !== undefined || isReadOnlyCommand(facts)) &&
  (facts.runs === undefined || facts.risk === "read_only" || isReadOnlyCommand(facts))

const isReadOnlyCommand = ({ runs, confined, network }: Facts): boolean =>
  runs !== undefined && confined === "read_only" && network !== true

/** Why no mode spares the question about a call. */
const obstacleTo = ({ facts, openWorld }: ApprovalRequest, { deletedFiles }: ModeLimits): string | undefined => {
  if (facts.writes.some(({ isProtected }) => isProtected)) return "it changes a protected path"
  if (facts.fetches !== undefined) return "no rule allows this host"
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
