import { type ErrorCode, isToolError, makeToolError, reasonOf, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

type ErrnoCode = "file_not_found" | "permission_denied" | "invalid_params" | "symlink_blocked"

/**
 * Runs code that throws a ToolError for an expected failure. One with another code than those listed is a bug, and so a
 * defect, like anything else that is thrown.
 */
export const attempt = <A, const Code extends ErrorCode>(
  codes: ReadonlyArray<Code>,
  thunk: () => A
): Effect.Effect<A, ErrorWith<Code>> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(thunk())
    } catch (error) {
      if (isToolError(error) && isOneOf(codes, error)) return Effect.fail(error)
      throw error
    }
  })

/** One of several failures, each a member of the union. */
export type ErrorWith<Code extends ErrorCode> = Code extends ErrorCode ? ToolError<Code> : never

const isOneOf = <Code extends ErrorCode>(codes: ReadonlyArray<Code>, error: ToolError): error is ErrorWith<Code> =>
  codes.some((code) => code === error.code)

export const containCodes = ["path_outside_workspace", "symlink_blocked", "invalid_params"] as const
export const lookCodes = [...containCodes, "file_not_found", "permission_denied"] as const
export const readCodes = [...lookCodes, "is_directory", "not_a_regular_file", "file_too_large", "secret_path"] as const
export const listCodes = [...lookCodes, "not_a_directory"] as const
export const planCodes = [
  ...readCodes,
  "not_a_directory",
  "already_exists",
  "stale_file",
  "write_failed",
  "read_only_root"
] as const
export const undoCodes = ["no_history", "stale_file", "write_failed"] as const

/** True for a failure that the operating system reported with one of these names. */
export const isErrno = (error: unknown, ...names: ReadonlyArray<string>): boolean =>
  hasCode(error) && names.includes(error.code)

/** True for a failure that carries a code, the system's or that of a ToolError. Anything else is a bug of ours. */
export const hasCode = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string"

/** True where a second name can't be had: for a directory, and on some disks for anything. */
export const isWithoutLinks = (error: unknown): boolean => isErrno(error, "EPERM", "ENOTSUP", "ENOSYS", "EMLINK")

/** True for a failure that has to do with one path. Too few descriptors or too little memory would fail any other. */
export const isAboutPath = (error: unknown): boolean =>
  isToolError(error) || (error instanceof Error && "errno" in error && !isErrno(error, "EMFILE", "ENFILE", "ENOMEM"))

/**
 * Converts an error of the operating system about a path to a failure that names the path as the caller gave it.
 * Anything that is not about the path (a full descriptor table, a broken disk) is passed on as it is: a defect.
 */
export const fromErrno = (error: unknown, given: string): ToolError<ErrnoCode> => {
  if (isToolError(error)) return error as ToolError<ErrnoCode>
  if (isErrno(error, "ENOENT", "ENOTDIR")) return notFound(given)
  if (isHeldOpen(error, "EBUSY")) return openElsewhere("permission_denied", given)
  if (isErrno(error, "EACCES", "EPERM")) return permissionDenied(given)
  if (isErrno(error, "EROFS")) return readOnlyDisk(given)
  if (isErrno(error, "ENAMETOOLONG")) return nameTooLong(given)
  if (isErrno(error, "ELOOP")) return replacedMeanwhile(given)
  throw error
}

/** True for a refusal that may be over in a moment: Windows lets nobody rename, replace or delete a file that is open. */
const isHeldOpen = (error: unknown, ...names: ReadonlyArray<string>): boolean =>
  process.platform === "win32" && isErrno(error, ...names)

/** True for a failure after which the same attempt may succeed. */
export const isOpenElsewhere = (error: ToolError): boolean => error.details?.["reason"] === heldOpen

const heldOpen = "open_elsewhere"

const openElsewhere = <const Code extends "permission_denied" | "write_failed">(
  code: Code,
  path: string
): ToolError<Code> =>
  makeToolError(code, `${path} can't be used: another program has it open; nothing was changed`, {
    suggestion: "Close it there, or repeat the call in a moment. If no program has it open, check its permissions.",
    details: { path, reason: heldOpen },
    retryable: true
  })

export const replacedMeanwhile = (given: string): ToolError<"symlink_blocked"> =>
  makeToolError("symlink_blocked", `${given} changed to or from a symbolic link during the call`, {
    suggestion: "Repeat the call once nothing else changes this path.",
    details: { path: given }
  })

/** Runs a piece of work that may fail in these ways. */
export const ignoring = (work: () => void, ...names: ReadonlyArray<string>): void => {
  try {
    work()
  } catch (error) {
    if (!isErrno(error, ...names)) throw error
  }
}

/** Name of the state directory in errors: its path is only the host's business. */
export const stateName = "the state directory"

/** Runs a piece of work on the disk. What the system refuses is told with the path that it was about. */
export const naming = <A>(path: string, work: () => A): A => {
  try {
    return work()
  } catch (error) {
    if (isToolError(error)) throw error
    if (!hasCode(error)) throw error
    if (isHeldOpen(error, "EBUSY", "EPERM", "EACCES")) throw openElsewhere("write_failed", path)
    if (isErrno(error, "EACCES", "EPERM", "EROFS", "ENAMETOOLONG", "ENOENT", "ENOTDIR", "ELOOP")) {
      throw fromErrno(error, path)
    }
    const [reason, suggestion] = reasons[error.code] ?? [
      error.code,
      "Check the disk that it lies on, then repeat the call."
    ]
    throw makeToolError("write_failed", `${path} could not be written: ${reason}; nothing was changed`, {
      suggestion,
      details: { path, reason: error.code }
    })
  }
}

/** Runs a piece of work in the state directory, whose path is nobody's business but the host's. */
export const namingState = <A>(work: () => A): A => {
  try {
    return work()
  } catch (error) {
    if (isToolError(error) || !hasCode(error)) throw error
    throw makeToolError(
      "write_failed",
      `${stateName} could not be written: ${whyNotWritten(error)}; nothing was changed`,
      {
        suggestion: "Check the disk that it lies on and its permissions, then repeat the call.",
        details: { path: stateName, reason: error.code }
      }
    )
  }
}

/** Why something could not be written, in a few words. */
export const whyNotWritten = (cause: unknown): string => {
  if (isErrno(cause, "ENOSPC", "EDQUOT")) return "the disk is full"
  return hasCode(cause) ? cause.code : reasonOf(cause)
}

const full = ["the disk is full", "Free some space on the disk, then repeat the call."] as const
const reasons: Readonly<Record<string, readonly [string, string]>> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: ["it is larger than a file may be here", "Write less, or ask for a higher limit on the size of files."],
  EBUSY: ["a disk is mounted there, or something else holds it", "Name what lies in it, or unmount it first."]
}

export const notFound = (given: string): ToolError<"file_not_found"> =>
  makeToolError("file_not_found", `${given} does not exist`, {
    suggestion: "Check the path, or list its directory to see what is there.",
    details: { path: given }
  })

export const notADirectory = (given: string): ToolError<"not_a_directory"> =>
  makeToolError("not_a_directory", `${given} is not a directory`, {
    suggestion: "Name a directory, or the one that it lies in.",
    details: { path: given }
  })

export const isDirectory = (given: string): ToolError<"is_directory"> =>
  makeToolError("is_directory", `${given === "" ? "the workspace itself" : given} is a directory`, {
    suggestion: "List it to see its files, and name one of them.",
    details: { path: given }
  })

export const notARegularFile = (given: string): ToolError<"not_a_regular_file"> =>
  makeToolError("not_a_regular_file", `${given} is not a regular file`, {
    suggestion: "Only regular files are read and written: no devices, pipes or sockets.",
    details: { path: given }
  })

export const stale = (path: string): ToolError<"stale_file"> =>
  makeToolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
    suggestion: "Read it again, then repeat the call.",
    details: { path }
  })

export const alreadyExists = (path: string): ToolError<"already_exists"> =>
  makeToolError("already_exists", `${path} already exists`, {
    suggestion: "Choose another path, or delete or move what is there first.",
    details: { path }
  })

export const namedAsDirectory = (path: string): ToolError<"is_directory"> =>
  makeToolError("is_directory", `${path} ends with a slash, so it names a directory`, {
    suggestion: "Name the file itself, without a slash at the end.",
    details: { path }
  })

export const rootStays = (what: "deleted" | "moved"): ToolError<"path_outside_workspace"> =>
  makeToolError("path_outside_workspace", `the workspace itself can't be ${what}`, {
    suggestion: "Name something inside it.",
    details: { path: "." }
  })

export const secretPath = (path: string): ToolError<"secret_path"> =>
  makeToolError("secret_path", `${path} is a secret path: tools can see its name, not its content`, {
    suggestion: "Work without its content, or ask a person for what is needed of it.",
    details: { path }
  })

export const readOnlyRoot = (path: string, root: string): ToolError<"read_only_root"> =>
  makeToolError("read_only_root", `${path} is in the root '${root}', which is read-only; nothing was changed`, {
    suggestion: "Write to a root with write access, or copy the file there first.",
    details: { path, root }
  })

const permissionDenied = (given: string): ToolError<"permission_denied"> =>
  makeToolError("permission_denied", `the permissions of ${given} do not allow this`, {
    suggestion: "Change its permissions or those of its directory, or use another path.",
    details: { path: given }
  })

const readOnlyDisk = (given: string): ToolError<"permission_denied"> =>
  makeToolError("permission_denied", `${given} is on a read-only file system`, {
    suggestion: "Use a path on another disk, or ask for this one to be mounted for writing.",
    details: { path: given }
  })

export const nameTooLong = (given: string): ToolError<"invalid_params"> =>
  makeToolError("invalid_params", `the path ${shortened(given)} is too long, or a name in it is`, {
    suggestion: "Use names of at most 255 bytes and paths of at most 4,096.",
    details: { path: shortened(given) }
  })

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}…` : text)
