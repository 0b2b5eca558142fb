import { join } from "node:path"

/** The command as it is published; `npm run bench` builds it first. */
export const haftCli = join(import.meta.dirname, "../../apps/cli/dist/bin.js")
