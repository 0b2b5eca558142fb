import { readdirSync, readFileSync } from "node:fs"

/** The resident memory of a process and all its descendants, in bytes. Linux only. */
export const residentMemory = (pid: number): number => {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1])
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  )
  return pages * 4096 + children.reduce((sum, child) => sum + residentMemory(child), 0)
}
