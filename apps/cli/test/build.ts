import { join } from "node:path"

import { build } from "rolldown"

import bundle, { output } from "../rolldown.config.ts"

// Inside the package, as dist is, because dependencies such as node-pty are looked up from here.
export const directory = join(import.meta.dirname, "../node_modules/.cache/haft")

/** Bundles the program as it is shipped, once, before the first test. */
export default async (): Promise<void> => {
  await build({
    ...bundle,
    cwd: join(import.meta.dirname, ".."),
    output: { ...output, dir: directory, sourcemap: false }
  })
}
