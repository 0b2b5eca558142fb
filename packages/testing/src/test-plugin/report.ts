/** The rules that a plugin has to follow. */
export type PluginRule =
  | "loading"
  | "schema"
  | "parameters"
  | "touches"
  | "paths"
  | "cancellation"
  | "leftovers"
  | "output"
  | "errors"
  | "idempotence"
  | "reply"

/** One thing that is wrong, and what to do about it. */
export interface PluginProblem {
  /** Empty for a problem of the whole plugin. */
  readonly tool: string
  readonly dialect: string
  readonly rule: PluginRule
  readonly problem: string
}

/** Findings of the conformance kit, as data. */
export interface PluginReport {
  readonly plugin: string
  readonly version: string
  readonly contract: number
  readonly ok: boolean
  readonly tools: ReadonlyArray<string>
  /** How many calls were made. */
  readonly calls: number
  readonly problems: ReadonlyArray<PluginProblem>
  /** Tools of which no call succeeded, so that most rules could not be tested. */
  readonly notTried: ReadonlyArray<{ readonly tool: string; readonly dialect: string; readonly why: string }>
}

/** The report on a plugin that no host would load. */
export const unusablePlugin = (plugin: string, problem: string): PluginReport => ({
  plugin,
  version: "",
  contract: 0,
  ok: false,
  tools: [],
  calls: 0,
  problems: [{ tool: "", dialect: "", rule: "loading", problem }],
  notTried: []
})

/** The report as text. */
export const showReport = ({ plugin, version, tools, calls, problems, notTried }: PluginReport): string => {
  const found = problems.map(({ tool, dialect, rule, problem }) =>
    tool === "" ? `✗ ${rule}: ${problem}` : `✗ ${tool} (${dialect}), ${rule}: ${problem}`
  )
  const open = notTried.map(({ tool, dialect, why }) => `! ${tool} (${dialect}) was not tried out: ${why}`)
  const untried = notTried.length === 0 ? "" : `, as far as it was tried: ${notTried.length} of its tools were not`
  const verdict =
    problems.length === 0 ? `conforms${untried}` : `has ${problems.length} problem${problems.length === 1 ? "" : "s"}`
  const tried = `${tools.length} ${tools.length === 1 ? "tool" : "tools"}, ${calls} calls`
  return [`${[plugin, version].join(" ").trim()} ${verdict}: ${tried}`, ...found, ...open].join("\n")
}
