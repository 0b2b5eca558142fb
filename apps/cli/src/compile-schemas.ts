import { config } from "zod"

/** For servers, which use schemas often: from now on zod compiles a schema on its first use. */
export const compileSchemas = (): void => void config({ jitless: false })
