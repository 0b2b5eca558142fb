import * as z from "zod"

import type { CommandOutcome } from "./run-command.ts"

/** For contracts that have no field for it: set only where the command ran without a sandbox. */
export const sandboxField = z.string().optional().describe("`none` where the command ran without a sandbox")

export const sandboxMark = ({ sandbox }: CommandOutcome): { readonly sandbox?: string } =>
  sandbox.isolated ? {} : { sandbox: sandbox.kind }

/** Sandbox note for people. */
export const showSandbox = (sandbox: string | undefined): string =>
  sandbox === undefined ? "" : "[ran without a sandbox]\n"

/** Sandbox note at the end of a suggestion. */
export const sandboxRemark = ({ sandbox }: CommandOutcome): string =>
  sandbox.isolated ? "" : " It ran without a sandbox."
