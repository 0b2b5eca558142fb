import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import { build } from "rolldown"

/** Makes one file of a program, in this directory if no other is named: a process that loads single files takes half a second to start. */
export const bundleProgram = async (name: string, file: string): Promise<void> => {
  await build({
    input: resolve(dirname(fileURLToPath(import.meta.url)), name),
    platform: "node",
    resolve: { conditionNames: ["@haft/source", "import", "node"] },
    output: { file, codeSplitting: false },
    logLevel: "silent"
  })
}
