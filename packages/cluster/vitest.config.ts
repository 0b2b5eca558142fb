import { defineProject, mergeConfig } from "vitest/config"

import { shared } from "../../vitest.shared.ts"
import manifest from "./package.json" with { type: "json" }

export default mergeConfig(shared, defineProject({ test: { name: manifest.name } }))
