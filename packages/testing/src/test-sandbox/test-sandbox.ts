import { testControlFiles } from "./control-files.ts"
import { testEndings } from "./endings.ts"
import { testFiles } from "./files.ts"
import { type Check, type SandboxUnderTest, SharedSandbox } from "./inside.ts"
import { testLimits, tight } from "./limits.ts"
import { testNoNetwork } from "./network.ts"
import { testPrivileges } from "./privileges.ts"
import { testRepository } from "./repository.ts"
import { testRuns } from "./runs.ts"
import { testTrust } from "./trust.ts"

/** Defines all tests for a sandbox, with the test runner's own functions. */
export const testSandbox = (subject: SandboxUnderTest): void => {
  const wide = new SharedSandbox((workspace) => subject.sandbox(workspace))
  const narrow = new SharedSandbox((workspace) => subject.sandbox(workspace, tight))
  subject.afterAll(async () => {
    await wide.close()
    await narrow.close()
  })
  const within =
    (sandbox: SharedSandbox): Check =>
    (title, test) =>
      subject.it(title, () => test(sandbox.open()), 60_000)

  testRuns(within(wide))
  testNoNetwork(within(wide))
  testFiles(within(wide))
  testPrivileges(within(wide))
  testRepository(within(wide))
  testTrust(within(wide))
  testControlFiles(within(wide))
  testLimits(within(narrow))
  testEndings(within(wide), subject.countsLeftovers ?? true)
}
