import type { Facts } from "@haft/core"

/** How much a call can do, in four steps that follow from what it touches. */
export type Severity = "low" | "moderate" | "high" | "critical"

export interface SeverityReport {
  readonly level: Severity
  /** Why, in words, the worst first. */
  readonly reasons: ReadonlyArray<string>
}

const order: ReadonlyArray<Severity> = ["critical", "high", "moderate", "low"]

/** Grades a call by facts: protected paths, network, what can't be undone, how many files it deletes or changes. */
export const severityOf = (facts: Facts): SeverityReport => {
  const found = findings(facts).toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
  return { level: found[0]?.[0] ?? "low", reasons: found.map(([, reason]) => reason) }
}

const findings = (facts: Facts): ReadonlyArray<readonly [Severity, string]> => {
  const { writes, removedFiles = 0, runs, network, connects, confined, fetches, types } = facts
  const found: Array<readonly [Severity, string]> = []
  const protectedPath = writes.find(({ isProtected }) => isProtected)
  if (protectedPath !== undefined) {
    found.push([
      "critical",
      `Changes ${protectedPath.protectedPath ?? protectedPath.path}, which other programs run or trust`
    ])
  }
  if (connects !== undefined) found.push(["high", `Connects to ${connects}`])
  else if (runs !== undefined && network === true) found.push(["critical", "Runs a command with network access"])
  else if (runs !== undefined && confined === "read_only") found.push(["low", "Runs a command that can only read"])
  else if (runs !== undefined && confined === "overlay") found.push(["moderate", "Runs a command that can be undone"])
  else if (runs !== undefined) found.push(["high", "Runs a command whose changes can't be undone"])
  if (types !== undefined) found.push(["high", "Types into a terminal, which can't be undone"])
  if (fetches !== undefined) found.push(["high", `Sends a request to ${URL.parse(fetches)?.host ?? "an unknown host"}`])
  if (removedFiles > 10) found.push(["high", `Deletes or moves ${removedFiles} files`])
  else if (removedFiles > 0)
    found.push(["moderate", `Deletes or moves ${removedFiles} file${removedFiles === 1 ? "" : "s"}`])
  const changed = writes.filter(({ exists }) => exists).length - removedFiles
  if (changed > 0) found.push(["moderate", `Modifies ${changed} existing file${changed === 1 ? "" : "s"}`])
  const created = writes.filter(({ exists }) => !exists).length
  if (created > 0) found.push(["low", `Creates ${created} file${created === 1 ? "" : "s"}`])
  return found
}
