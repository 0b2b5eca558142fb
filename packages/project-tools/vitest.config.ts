import { defineProject, mergeConfig } from "vitest/config"

import { shared } from "../../vitest.shared.ts"
import manifest from "./package.json" with { type: "json" }

export default mergeConfig(
  shared,
  defineProject({
    // Processes of their own: in threads Node warns about descriptors that a socket takes over.
    test: { name: manifest.name, pool: "forks" }
  })
)
