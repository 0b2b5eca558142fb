import { join } from "node:path"

import { build } from "rolldown"

import bundle, { output } from "../rolldown.config.ts"

// Below the package, as dist is: programs that come as packages are looked for from there.
export const directory = join(import.meta.dirname, "../node_modules/.cache/haft")

/** Bundles the program as it is shipped, once, before the first test. */
export default async (): Promise<void> => {
  await build({
    ...bundle,
    cwd: join(import.meta.dirname, ".."),
    output: { ...output, dir: directory, sourcemap: false }
  })
}
