// Prints the configuration that is found for a workspace. A process of its own, because a test runner that loads modules
// its own way resolves the imports of a configuration differently.
import { findConfig } from "../src/promise.ts"

const [root = "", state = ""] = process.argv.slice(2)
process.stdout.write(JSON.stringify((await findConfig({ overrides: { root, state } })).config))
