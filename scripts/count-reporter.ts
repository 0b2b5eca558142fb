import type { Reporter, TestCase, TestModule } from "vitest/node"

const mayBeSkipped = "(not on this platform)"

/**
 * Closes a test run with one plain line, `12 passed, 0 failed, 0 skipped`.
 *
 * With HAFT_NO_SKIP=1 a skipped test fails the run: where everything a test needs can be installed,
 * a test that did not run is a test that did not pass. Only a title that says it cannot run on this
 * platform is let through.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const inState = (state: string) => tests.filter((test) => test.result().state === state)
    const broken = modules.filter((module) => module.errors().length > 0)
    const skipped = inState("skipped")
    const unfinished = inState("pending")

    const forbidden =
      process.env["HAFT_NO_SKIP"] === "1"
        ? [...skipped, ...unfinished].filter((test) => !test.fullName.includes(mayBeSkipped))
        : []
    if (forbidden.length > 0) {
      process.exitCode = 1
      process.stdout.write(`Skipped, and HAFT_NO_SKIP=1 forbids it:\n${forbidden.map(describe).join("")}`)
    }

    const failed = inState("failed").length + broken.length + unhandledErrors.length + forbidden.length
    const left = skipped.length + unfinished.length - forbidden.length
    process.stdout.write(`\n${inState("passed").length} passed, ${failed} failed, ${left} skipped\n`)
  }
}

const describe = (test: TestCase): string => {
  const result = test.result()
  const reason = result.state === "skipped" && result.note !== undefined ? `: ${result.note}` : ""
  return `  ${test.project.name} ${test.module.relativeModuleId} > ${test.fullName}${reason}\n`
}
