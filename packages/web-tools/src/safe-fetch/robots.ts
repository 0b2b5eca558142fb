interface Rule {
  readonly allow: boolean
  readonly path: string
}

/** Tests whether a robots.txt lets `agent` fetch `path`: its own group, else that for all; the longest rule wins. */
export const isAllowedByRobots = (robots: string, agent: string, path: string): boolean => {
  const product = agent.toLowerCase().split(/[/\s]/)[0] ?? ""
  const groups = parseGroups(robots, [product, "*"])
  const rules = groups.get(product) ?? groups.get("*") ?? []
  let verdict: Rule = { allow: true, path: "" }
  for (const rule of rules) {
    if (!matches(rule.path, path)) continue
    const isLonger = rule.path.length > verdict.path.length
    if (isLonger || (rule.path.length === verdict.path.length && rule.allow)) verdict = rule
  }
  return verdict.allow
}

/** The rules for each of `agents` that is named; others would only cost time and memory. */
const parseGroups = (robots: string, agents: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<Rule>> => {
  const groups = new Map<string, Array<Rule>>()
  const current = new Set<string>()
  let isNaming = false
  for (const line of robots.split(/\r\n?|\n/)) {
    const [said = ""] = line.split("#", 1)
    const [field = ""] = said.split(":", 1)
    const name = field.trim().toLowerCase()
    const value = said.slice(field.length + 1).trim()
    if (name === "user-agent") {
      if (!isNaming) current.clear()
      const agent = value.toLowerCase()
      if (agents.includes(agent)) {
        current.add(agent)
        groups.set(agent, groups.get(agent) ?? [])
      }
      isNaming = true
    } else if (name === "allow" || name === "disallow") {
      isNaming = false
      if (value !== "") for (const agent of current) groups.get(agent)?.push({ allow: name === "allow", path: value })
    }
  }
  return groups
}

/** `*` is any text, `$` at the end is the end. Greedy over the pieces between stars, so it can't be made slow. */
const matches = (pattern: string, path: string): boolean => {
  const isAnchored = pattern.endsWith("$")
  const [first = "", ...pieces] = (isAnchored ? pattern.slice(0, -1) : pattern).split("*")
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = pieces.pop()
  if (last === undefined) return !isAnchored || at === path.length
  for (const piece of pieces) {
    const found = path.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return isAnchored ? path.length - last.length >= at && path.endsWith(last) : path.includes(last, at)
}
