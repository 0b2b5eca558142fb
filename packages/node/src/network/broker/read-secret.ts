import { readFileSync, realpathSync } from "node:fs"

import type { BrokeredCredential } from "@haft/core"

import { liesWithin } from "../../workspace/paths/is-inside.ts"

/** Shortest value that can be brokered: shorter ones would be found in answers by chance. */
const shortestSecret = 8

/** Reads the value of a credential; throws where there is none, or where a command could read it too. */
export const readSecret = (
  { variable, from }: Pick<BrokeredCredential, "variable" | "from">,
  visible: ReadonlyArray<string>
): string => {
  const secret = ("env" in from ? process.env[from.env] : readOutside(from.file, variable, visible))?.trim() ?? ""
  // A header has no place for anything else.
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length < shortestSecret) {
    const source = "env" in from ? `the variable ${from.env}` : `the file ${from.file}`
    throw new Error(
      `the credential ${variable} has no usable value: ${source} has to hold ${shortestSecret} or more printable ASCII characters`
    )
  }
  return secret
}

const readOutside = (file: string, variable: string, visible: ReadonlyArray<string>): string => {
  const path = realpathSync(file)
  if (visible.some((directory) => liesWithin(realpathSync(directory), path))) {
    throw new Error(`the credential ${variable} is in a file that commands can read: ${file}`)
  }
  return readFileSync(path, "utf8")
}
