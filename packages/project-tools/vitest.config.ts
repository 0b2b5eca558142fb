import { defineProject, mergeConfig } from "vitest/config"

import { shared } from "../../vitest.shared.ts"
import manifest from "./package.json" with { type: "json" }

export default mergeConfig(
  shared,
  defineProject({
    // In processes, because in worker threads Node warns about descriptors that become sockets.
    test: { name: manifest.name, pool: "forks" }
  })
)
