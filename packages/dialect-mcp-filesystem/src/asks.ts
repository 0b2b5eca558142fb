import type { Facts } from "@haft/core"

/** The reference server asks nobody. Only what could make a program run later, such as a git hook, is asked about. */
export const asksForControlFiles = ({ writes }: Facts): boolean => writes.some(({ isProtected }) => isProtected)
