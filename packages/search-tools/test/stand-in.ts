import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"

/** Makes programs that stand in for ripgrep where the real one can't be brought to do a thing. */
export const standIns = () => {
  const scripts = temporaryWorkspace()
  afterAll(() => scripts.remove())
  return (name: string, script: string): string => {
    const path = join(scripts.root, name)
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
    return path
  }
}
