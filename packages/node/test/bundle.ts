import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import { build } from "rolldown"

/** Bundles a program into one file, because a process that loads many files takes half a second to start. */
export const bundleProgram = async (name: string, file: string): Promise<void> => {
  await build({
    input: resolve(dirname(fileURLToPath(import.meta.url)), name),
    platform: "node",
    resolve: { conditionNames: ["@haft/source", "import", "node"] },
    output: { file, codeSplitting: false },
    logLevel: "silent"
  })
}
