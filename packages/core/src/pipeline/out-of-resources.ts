import { makeToolError, type ToolError } from "../tool-error.ts"
import type { Call } from "./call.ts"

// By the error names of operating systems. Any step of any tool can meet one, and none of them is a bug.
const resources: Readonly<Record<string, string>> = {
  EMFILE: "open files for this process",
  ENFILE: "open files",
  ENOMEM: "memory",
  EAGAIN: "processes",
  ENOSPC: "space on the disk",
  EDQUOT: "space on the disk"
}

/** Resource that the machine ran out of, if that is why something threw. */
export const exhaustedIn = (cause: unknown): string | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? resources[cause.code] : undefined

export const outOfResources = ({ tool, id }: Call, missing: string): ToolError<"out_of_resources"> =>
  makeToolError("out_of_resources", `the machine ran out of ${missing} during ${tool}`, {
    suggestion: "Repeat the call once other work on this machine has ended.",
    details: { call: id },
    retryable: true
  })
