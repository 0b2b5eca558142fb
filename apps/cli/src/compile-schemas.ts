import { config } from "zod"

/** For programs that use a schema often: those that are made from now on are compiled when they are first used. */
export const compileSchemas = (): void => void config({ jitless: false })
