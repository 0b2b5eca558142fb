import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { installedRipgrep } from "@haft/search-tools"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

import { openHost } from "../promise.ts"

it.skipIf(process.platform === "win32")(
  "search_text runs no ripgrep that was replaced in the workspace while the host runs (not on this platform)",
  async () => {
    using workspace = temporaryWorkspace({ "a.txt": "needle\n" })
    const ripgrep = join(workspace.root, "node_modules", ".bin", "rg")
    mkdirSync(join(ripgrep, ".."), { recursive: true })
    copyFileSync(await Effect.runPromise(installedRipgrep), ripgrep)
    const packages = { fs: {}, search: { ripgrep } }
    await using host = await openHost({ root: workspace.root, state: workspace.state, packages })
    await host.call("read_file", { path: "a.txt" })
    const planted = join(workspace.outside, "planted")
    // As a sandboxed command would: the file that is there, or another one in its place.
    rmSync(ripgrep)
    writeFileSync(ripgrep, `#!/bin/sh\ntouch '${planted}'\n`)
    chmodSync(ripgrep, 0o755)
    const reply = await host.call("search_text", { query: "needle" })
    expect(existsSync(planted)).toBe(false)
    expect(reply).toMatchObject({ ok: true, output: { total_matches: 1 } })
  }
)
