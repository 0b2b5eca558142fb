/** One test that did not pass. */
export interface TestFailure {
  readonly test: string
  readonly file?: string
  readonly message: string
}

export interface TestOutcome {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: Array<TestFailure>
}

const longestMessage = 4000
const mostFailures = 100

interface JestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly message?: string
    readonly status?: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: ReadonlyArray<string> | null
    }>
  }>
}

/** Reads the output of jest with --json, and of vitest with its json reporter. */
export const parseJestJson = (stdout: string): TestOutcome | undefined => {
  const report = jsonIn(stdout)
  if (report === undefined) return undefined
  const failures = report.testResults.flatMap(({ name, message, status, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === "failed")
    // A file that could not be loaded has no tests, so the file itself is the failure.
    if (failed.length === 0 && status === "failed") return [{ test: name, file: name, message: clip(message ?? "") }]
    return failed.map((one) => ({
      test: one.fullName.trim(),
      file: name,
      message: clip((one.failureMessages ?? []).join("\n"))
    }))
  })
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests,
    failures: failures.slice(0, mostFailures)
  }
}

const jsonIn = (stdout: string): JestReport | undefined => {
  const line = stdout.split("\n").findLast((one) => one.startsWith("{"))
  try {
    const report = JSON.parse(line ?? "") as JestReport
    return Array.isArray(report.testResults) ? report : undefined
  } catch {
    return undefined
  }
}

/** Reads JUnit's XML, which node and pytest write. */
export const parseJunit = (stdout: string): TestOutcome | undefined => {
  if (!stdout.includes("<testsuites")) return undefined
  const cases = [...elementsIn(stdout, "testcase")]
  const failures = cases.flatMap(({ attributes, body }) => {
    const [failure] = [...elementsIn(body, "failure"), ...elementsIn(body, "error")]
    if (failure === undefined) return []
    const file = attribute(attributes, "file")
    return [
      {
        test: attribute(attributes, "name") ?? "",
        ...(file !== undefined && { file }),
        message: clip(attribute(failure.attributes, "message") ?? plain(failure.body))
      }
    ]
  })
  const skipped = cases.filter(({ body }) => body.includes("<skipped")).length
  const failed = failures.length
  return { passed: cases.length - failed - skipped, failed, skipped, failures: failures.slice(0, mostFailures) }
}

/** All complete XML elements with this name, in order. */
function* elementsIn(text: string, name: string): Generator<{ readonly attributes: string; readonly body: string }> {
  const start = new RegExp(`<${name}\\b((?:[^<>"]|"[^"]*")*)>`, "g")
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const [, attributes = ""] = match
    if (attributes.endsWith("/")) yield { attributes, body: "" }
    else {
      const end = text.indexOf(`</${name}>`, start.lastIndex)
      if (end === -1) return
      yield { attributes, body: text.slice(start.lastIndex, end) }
      start.lastIndex = end
    }
  }
}

const attribute = (attributes: string, name: string): string | undefined => {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1]
  return value === undefined ? undefined : plain(value)
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" }
const plain = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|apos|amp|#10);/g, (_all, name: string) => entities[name] ?? "").trim()

const clip = (text: string): string => (text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text)
