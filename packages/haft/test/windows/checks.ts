import { strict as assert } from "node:assert"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { gitTools } from "@haft/git-tools"
import { type HaftConfig, openRules, openWorkspace } from "haft/internal"

console.log(
  "placeholder",
  assert,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  tmpdir,
  join,
  gitTools,
  openRules,
  openWorkspace
)
export type X = HaftConfig
