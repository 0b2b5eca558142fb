import { join } from "node:path"

import { build } from "vite"

/** Where the tests find the console; `dist` belongs to the build. */
export const directory = join(import.meta.dirname, "../node_modules/.cache/haft-console")

/** Builds the console as it is shipped, once, before the first test. */
export default async (): Promise<void> => {
  // The tests' own NODE_ENV would give React's development build.
  const before = process.env["NODE_ENV"]
  process.env["NODE_ENV"] = "production"
  await build({
    root: join(import.meta.dirname, ".."),
    logLevel: "warn",
    build: { outDir: directory, emptyOutDir: true }
  })
  if (before === undefined) delete process.env["NODE_ENV"]
  else process.env["NODE_ENV"] = before
}
