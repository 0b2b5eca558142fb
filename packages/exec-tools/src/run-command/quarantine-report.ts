import type { ControlFileChange } from "@haft/core"
import * as z from "zod"

import type { CommandOutcome } from "./run-command.ts"

/** Number of paths listed in a reply; the audit log has them all. */
const mostListed = 20

/** For contracts that have no field for it: set only where control files were moved aside. */
export const quarantinedField = z
  .array(z.string())
  .optional()
  .describe("Control files that the command made or changed, moved out of the workspace")

export const quarantinedMark = (outcome: CommandOutcome): { readonly quarantined?: Array<string> } => {
  const paths = quarantined(outcome).map(({ path }) => path)
  return paths.length === 0 ? {} : { quarantined: paths.slice(0, mostListed) }
}

/** Quarantined files in one sentence, undefined where there are none. */
export const quarantineRemark = (outcome: CommandOutcome): string | undefined => {
  const files = quarantined(outcome)
  return files.length === 0 ? undefined : remarkOn(files.map(({ path }) => path))
}

export const remarkOn = (paths: ReadonlyArray<string>): string => {
  const listed = paths.slice(0, mostListed).join(", ")
  const more = paths.length > mostListed ? ` and ${paths.length - mostListed} more` : ""
  return `control files were moved out of the workspace: ${listed}${more}`
}

/** Quarantined files for people, after a command's output. */
export const showQuarantined = (paths: ReadonlyArray<string> | undefined): string =>
  paths === undefined ? "" : `[${remarkOn(paths)}]\n`

/** How haft's own tools list them. */
export const controlFileResult = z
  .array(
    z.object({
      path: z.string(),
      reason: z.string(),
      moved_to: z.string().nullable().describe("In the state directory; null where the change was only recorded")
    })
  )
  .optional()
  .describe("Control files that the command made or changed: what other programs run or trust without asking")

export const controlFileList = ({
  controlFiles
}: CommandOutcome): { readonly control_files?: NonNullable<z.output<typeof controlFileResult>> } =>
  controlFiles.length === 0
    ? {}
    : {
        control_files: controlFiles
          .slice(0, mostListed)
          .map(({ path, reason, quarantine = null }) => ({ path, reason, moved_to: quarantine }))
      }

const quarantined = ({ controlFiles }: CommandOutcome): ReadonlyArray<ControlFileChange> =>
  controlFiles.filter(({ quarantine }) => quarantine !== undefined)
