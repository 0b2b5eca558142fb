import { toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { git, type GitCommand } from "./git.ts"

/** A diff without the content of secret files. */
export interface CleanDiff {
  readonly diff: string
  /** Secret files that are part of it, relative to the repository. */
  readonly secret_files?: Array<string>
}

/** Runs a command of git that prints a diff, and leaves the secret files out of it: git has them, replies don't. */
export const diffWithoutSecrets = Effect.fnUntraced(function* (
  command: GitCommand
): Effect.fn.Return<CleanDiff, Effect.Error<ReturnType<typeof git>>, GitNeeds | Workspace> {
  const [name = "", ...options] = command.args
  // Without renames, so that a file that was moved is listed by both of its names.
  const names = yield* git({ ...command, args: [name, "--name-only", "--no-renames", "-z", "--format=", ...options] })
  const isSecret = yield* secretNames
  const secrets = [...new Set(names.split("\0"))].filter((path) => path !== "" && isSecret(path))
  if (secrets.length === 0) return { diff: yield* git(command) }
  return { diff: yield* git({ ...command, leftOut: secrets }), secret_files: secrets }
})

/** Tells people about secret files that a diff is without. */
export const secretNote = (files: ReadonlyArray<string> = []): string =>
  files.length === 0 ? "" : `\n[Left out, because they are secret files: ${files.join(", ")}]`

/** Refuses a file whose content is secret, whatever git has of it. */
export const refuseSecret = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  const isSecret = yield* secretNames
  // git reads a path of a revision from the top of the repository, and one with a dot in front from here.
  if (!isSecret(path) && !workspace.isSecret(yield* workspace.contain(path))) return undefined
  return yield* toolError("secret_path", `${path} is a secret file: its content is not shown, in any revision`, {
    suggestion: "Do without its content, or ask the person who runs the host to except it in `secretPaths`."
  })
})

/** Refuses revisions that are a file's content by themselves, such as HEAD:path: no path says then whether it is secret. */
export const refuseContent = (revisions: string) =>
  Effect.forEach(
    revisions.split(/\.{2,3}/).filter((revision) => revision !== ""),
    (revision) =>
      git({
        args: ["rev-parse", "--quiet", "--verify", "--end-of-options", `${commitOf(revision)}^{tree}`]
      }).pipe(
        Effect.catch((error) =>
          error.code === "command_failed"
            ? toolError("invalid_params", `'${revision}' is not a commit of this repository`, {
                suggestion: "Give a commit, a branch or a tag as the revision, and a file as the path.",
                details: { parameter: "revision" }
              })
            : Effect.fail(error)
        )
      ),
    { discard: true }
  )

// HEAD^! and HEAD^@ are ranges, and ^HEAD is what a range leaves out.
const commitOf = (revision: string): string => revision.replaceAll(/^\^|\^(?:[!@]|-\d*)$/g, "")

type GitNeeds = Effect.Services<ReturnType<typeof git>>

/** Tells secret files by their path from the top of the repository. The workspace may be a part of it. */
const secretNames = Effect.gen(function* () {
  const { isSecret } = yield* Workspace
  const prefix = (yield* git({ args: ["rev-parse", "--show-prefix"] })).replace(/\n$/, "")
  return (path: string): boolean => isSecret(path.startsWith(prefix) ? path.slice(prefix.length) : path)
})
