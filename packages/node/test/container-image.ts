import { spawnSync } from "node:child_process"

/** Image of the container tests; .ci/test-image makes it. */
export const testImage = "haft-test"

/** True where an engine runs containers of {@link testImage}. */
export const runsTestImage = (engine: string): boolean =>
  process.platform === "linux" &&
  spawnSync(engine, ["run", "--rm", "--pull=never", "--network=none", testImage, "true"]).status === 0
