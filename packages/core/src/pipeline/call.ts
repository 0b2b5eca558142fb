import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { AskCaller } from "../services/approver.ts"
import type { RefusedHunk } from "../services/refuse-hunks.ts"
import type { ErrorCode, ToolError } from "../tool-error.ts"
import type { Facts } from "../touches.ts"
import type { ApprovalWatcher } from "./approve.ts"

/** The caller and the call, known from its first moment. */
export interface Call {
  /** The caller's own id for the request, or one that the host made. */
  readonly id: string
  /** Counts the calls of a run from 1; artifacts are named after it. */
  readonly step: number
  readonly tool: string
  /** The operation that the tool words; absent until the tool is found. */
  readonly operation?: string
  readonly dialect: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The caller, where the host knows callers by name. */
  readonly caller?: Party
}

/** Somebody who calls or decides, for the audit log: the name of a token and its role. */
export interface Party {
  readonly name: string
  readonly role: string
}

/** How a call ended: `output` where it is `ok`, otherwise an `error`. */
export type Reply<Output = unknown, Code extends ErrorCode = ErrorCode> = ReplyFacts &
  (
    | {
        readonly ok: true
        /** The tool's own result, before the dialect wrapped it. */
        readonly output: Output
        readonly error?: never
      }
    | {
        readonly ok: false
        /** The failure, before the dialect renamed it. */
        readonly error: ToolError<Code>
        readonly output?: never
      }
  )

interface ReplyFacts {
  /** The dialect's envelope: what goes over the wire. */
  readonly wire: unknown
  /** The answer as text, for people. */
  readonly text: string
  /** The answer as content blocks: one text block, unless the tool makes others. */
  readonly blocks: ReadonlyArray<ContentBlock>
  /** Paths that the call wrote, or would have written, relative to the workspace. */
  readonly writes: ReadonlyArray<string>
  /** Changes of the arguments, as text: to make them fit, in dialects that are lenient, or by an approver; and their comment. */
  readonly adjusted: ReadonlyArray<string>
  /** The part of `adjusted` that people said: comments and changes of an approver, messages to the agent. */
  readonly notes?: ReadonlyArray<string>
  readonly durationMs: number
}

/** A part of an answer. Binary data is base64. */
export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource"; readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly type: "resource"; readonly uri: string; readonly mimeType?: string; readonly blob: string }
  | ResourceLink

/** Address of something that the caller can read when it needs it, such as an artifact. */
export interface ResourceLink {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly mimeType?: string
}

/** Blocks that the call under way has attached; undefined outside of calls. */
export const AttachedBlocks = Context.Reference<Array<ContentBlock> | undefined>("@haft/core/AttachedBlocks", {
  defaultValue: () => undefined
})

/**
 * Adds a content block, such as an image, to the answer of the call under way, behind its text. Binary data goes here
 * and not into the output, because models read the output as text.
 */
export const attachBlock = (block: ContentBlock): Effect.Effect<void> =>
  AttachedBlocks.useSync((blocks) => void blocks?.push(block))

/** A sign of life from a long call. */
export interface Progress {
  readonly message: string
  readonly done?: number
  readonly total?: number
}

/** `inside` follows links that end inside the workspace; `deny` follows none. */
export type SymlinkPolicy = "inside" | "deny"

/** The state of each touched file when a person said yes, by path. */
export type ApprovedState = ReadonlyMap<string, string>

/** Context of a call that is under way. */
export interface CallContext extends Call {
  /** The run the call belongs to, see {@link Journal}. */
  readonly run?: string
  readonly symlinks: SymlinkPolicy
  /** Absent when nobody had to be asked. */
  readonly approvedState?: ApprovedState
  /** The paths that the call was judged by: what lies elsewhere it does not change. Absent outside of calls. */
  readonly assessedWrites?: ReadonlyArray<string>
  readonly onProgress?: (progress: Progress) => void
  /** Told the diff of a plan that can be committed in parts, see `refusedHunks`. */
  readonly onPlanned?: (diff: string) => void
  /** Hunks of the plan that a person refused. Whoever commits the plan leaves them out. */
  readonly refusedHunks?: ReadonlyArray<RefusedHunk>
  /** Absent when the caller can't be asked. */
  readonly ask?: AskCaller
  /** Assesses for `approveEffects` what the call really changed. Absent outside of calls. */
  readonly approval?: CallApproval
}

/** How a call was approved. */
export interface CallApproval {
  readonly operation: string
  /** Decoded arguments. */
  readonly input: Readonly<Record<string, unknown>>
  readonly defaults: () => Readonly<Record<string, unknown>>
  readonly facts: Facts
  /** False in a dialect that never asks anybody. */
  readonly canAsk: boolean
  readonly watcher: ApprovalWatcher
}

/** The call that is under way. Services read it; tools rarely need it. */
export const CurrentCall = Context.Reference<CallContext>("@haft/core/CurrentCall", {
  defaultValue: () => ({ id: "none", step: 0, tool: "none", dialect: "none", startedAt: 0, symlinks: "inside" })
})

/** Tells whoever waits for the call how far it is. Does nothing when nobody listens. */
export const reportProgress = (progress: Progress): Effect.Effect<void> =>
  CurrentCall.useSync((call) => call.onProgress?.(progress))
