import { fileURLToPath } from "node:url"

import { reasonOf } from "@haft/core"

/** Why the module at an address can't be imported; shorter than Node's message, which also names the importer. */
export const importFailure = (cause: unknown, address: string): string => {
  const { code, url } = (cause ?? {}) as { readonly code?: unknown; readonly url?: unknown }
  const reason = reasonOf(cause)
  const isItself = url === address || reason.endsWith(` for ${fileURLToPath(address)}`)
  return (isItself ? inWords[String(code)] : undefined) ?? reason
}

const inWords: Readonly<Record<string, string>> = {
  ERR_MODULE_NOT_FOUND: "there is no such file",
  ERR_UNSUPPORTED_DIR_IMPORT: "it is a directory without a package.json",
  ERR_UNKNOWN_FILE_EXTENSION: "its name ends neither in .ts nor in .js"
}
