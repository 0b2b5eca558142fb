#!/usr/bin/env node
// The task runner. It has no dependencies and runs on any Node since 18, with npm beside it:
// it takes a Node new enough for this repository and the pinned pnpm from the machine, or
// fetches them into .toolchain/, installs the workspace when that is out of date, and then
// runs the task with both first on PATH.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const pnpmVersion = manifest.packageManager.split("@")[1]
const nodeMinimum = manifest.engines.node.replace(/[^\d.]/g, "")
const nodeFetched = manifest.config.bootstrapNode
const windows = process.platform === "win32"
const toolchain = join(root, ".toolchain")

const [task = "setup", ...given] = process.argv.slice(2)
// pnpm passes the `--` before arguments on, npm does not.
const rest = given[0] === "--" ? given.slice(1) : given

const say = (text) => process.stderr.write(`haft: ${text}\n`)
const numbers = (version) => version.split(".").map(Number)
const atLeast = (have, want) => {
  const [a, b] = [numbers(have), numbers(want)]
  const at = [0, 1, 2].find((index) => a[index] !== b[index])
  return at === undefined || a[at] > b[at]
}

const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", NO_UPDATE_NOTIFIER: "1" }
// npm passes its whole configuration to scripts, and pnpm would read it as its own. Only the settings that say where
// packages come from are kept.
const shared = /^npm_config_(.*registry|.*proxy|ca|cafile|strict_ssl|userconfig|globalconfig|\/\/.*)$/i
for (const key of Object.keys(env)) {
  if (/^npm_(config|package|lifecycle)_/i.test(key) && !shared.test(key)) delete env[key]
}
const pathKey = Object.keys(env).find((key) => key.toUpperCase() === "PATH") ?? "PATH"
const putOnPath = (directory) => {
  env[pathKey] = `${directory}${delimiter}${env[pathKey] ?? ""}`
}

// Everything but the program's own output goes to stderr.
const quietly = { stdio: ["ignore", 2, 2] }
const run = (command, args, options = {}) => {
  const result = spawnSync(command, args, { cwd: root, env, stdio: "inherit", shell: windows, ...options })
  if (result.error) throw result.error
  if (result.status === 0) return
  process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}`)
  process.exit(result.status ?? 1)
}
const versionOf = (command) => {
  const result = spawnSync(command, ["--version"], { cwd: root, env, encoding: "utf8", shell: windows })
  return result.status === 0 ? result.stdout.trim().replace(/^v/, "") : undefined
}

const node = findNode()
putOnPath(dirname(node))
putOnPath(findPnpm())
const install = (...args) => run("pnpm", ["install", "--prefer-offline", "--loglevel=warn", ...args], quietly)
if (!existsSync(join(root, "node_modules"))) say("fetching what it is made of")
if (task !== "lock") install("--frozen-lockfile")

const exec = (...args) => run("pnpm", ["exec", ...args])
const turbo = (...args) => exec("turbo", "run", ...args)
const checks = [
  "check:format",
  "check:lint",
  "check:types",
  "check:effect",
  "check:unused",
  "check:docs",
  "check:site",
  "check:contracts",
  "check:packages",
  "build"
]
// Prints nothing about tasks that are cached, and does not stop at the first that fails.
const brief = ["--output-logs=new-only", "--continue=dependencies-successful"]

const tasks = {
  setup: () => say("ready"),
  // After a change of dependencies: writes the lockfile, and verifies every entry with the registry.
  lock: () => install("--no-frozen-lockfile", "--no-trust-lockfile"),
  start,
  test: () => {
    // With arguments: those tests only, `npm test -- packages/core`.
    turbo(...(rest.length > 0 ? ["build"] : checks), ...brief)
    // Measuring coverage makes tests slower, so only CI does it each time.
    const isWhole = rest.length === 0 && process.env["CI"] !== undefined
    exec("vitest", "run", ...(isWhole ? ["--coverage"] : []), ...rest)
  },
  build: () => turbo("build", ...rest),
  check: () => turbo(...checks, ...brief, ...rest),
  typecheck: () => turbo("check:types", "check:effect", ...rest),
  lint: () => turbo("check:format", "check:lint", "check:unused", ...rest),
  format: () => exec("oxfmt", ".", ...rest),
  // Packs every package as it would be published, for use in other projects before there is a release.
  pack: () => {
    turbo("build", "check:packages", ...brief)
    run("pnpm", ["-r", "--filter", "./packages/*", "pack", "--pack-destination", resolve(root, rest[0] ?? "packs")])
  },
  // Generates the tables and references in the docs from the code, then the site from the docs, in site/dist.
  docs: () => {
    exec("node", "--conditions=@haft/source", "scripts/docs.ts", ...rest)
    turbo("check:site", ...brief)
  },
  coverage: () => {
    turbo("build", ...brief)
    exec("vitest", "run", "--coverage", ...rest)
  },
  // Some benchmarks start the command, which is measured as it is published.
  bench: () => {
    turbo("build", "--filter=@haft/cli", "--output-logs=errors-only")
    exec("node", "--conditions=@haft/source", "bench/src/main.ts", ...rest)
  },
  // Damaged patches and edits: how often they are made right, refused or made wrong.
  robustness: () => exec("node", "--conditions=@haft/source", "bench/src/robustness/main.ts", ...rest),
  // Attacks, load and faults; `--for` says how long.
  stress: () => exec("node", "--conditions=@haft/source", "stress/src/main.ts", ...rest),
  // A release from beginning to end, on a registry of its own.
  rehearse: () => exec("node", "scripts/rehearse-release.ts"),
  // Checks licenses and install scripts, writes a bill of materials, and asks the registry about known vulnerabilities.
  "supply-chain": () => {
    exec("node", "scripts/supply-chain.ts")
    run("pnpm", ["audit", "--prod", "--ignore-registry-errors"])
  },
  exec: () => exec(...rest)
}
if (!Object.hasOwn(tasks, task)) {
  say(`unknown task ${task}; one of ${Object.keys(tasks).join(", ")}`)
  process.exit(2)
}
tasks[task]()

function start() {
  // The program may speak a protocol on stdout, so the build prints nothing unless it fails.
  const build = ["exec", "turbo", "run", "build", "--filter=@haft/cli", "--output-logs=errors-only"]
  // The server reads the console's files from where its build puts them.
  const command = rest.length > 0 ? rest : ["serve", "--demo"]
  if (command[0] === "serve" && existsSync(join(root, "apps/console/package.json")))
    build.push("--filter=@haft/console")
  if (!existsSync(join(root, "apps/cli/dist"))) say("building")
  run("pnpm", build, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" })
  const child = spawn(node, [join(root, "apps/cli/dist/bin.js"), ...command], {
    cwd: whereStarted(),
    env,
    stdio: "inherit"
  })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)))
}

// npm runs scripts in the directory of the package, but the person means the directory they were in.
function whereStarted() {
  const { INIT_CWD: typed, npm_lifecycle_event: script } = process.env
  return script === "start" && typed !== undefined && existsSync(typed) ? typed : process.cwd()
}

// The Node that runs this file if it is new enough, else one from npm, which needs no install script.
function findNode() {
  if (atLeast(process.versions.node, nodeMinimum)) return process.execPath
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node"
  const name = `${prefix}-${windows ? "win" : process.platform}-${process.arch}`
  return fetched(name, nodeFetched, join("bin", windows ? "node.exe" : "node"))
}

// The directory of the pnpm in PATH if it has the pinned major version, else of its native binary for this platform.
// (The `pnpm` package itself needs an install script, which npm may refuse to run.)
function findPnpm() {
  const present = versionOf("pnpm")
  if (present !== undefined && numbers(present)[0] === numbers(pnpmVersion)[0]) return dirname(node)
  const musl = process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined
  const name = `@pnpm/exe.${process.platform}-${process.arch}${musl ? "-musl" : ""}`
  return dirname(fetched(name, pnpmVersion, windows ? "pnpm.exe" : "pnpm"))
}

function fetched(name, version, file) {
  const home = join(toolchain, `${name.replace(/[@/]/g, "")}-${version}`)
  const path = join(home, "node_modules", name, file)
  if (existsSync(path)) return path
  say(`fetching ${name} ${version}`)
  // Downloaded elsewhere and then renamed, so that two first runs at the same time never use half a download.
  const incoming = `${home}.${process.pid}`
  mkdirSync(incoming, { recursive: true })
  process.on("exit", () => rmSync(incoming, { recursive: true, force: true }))
  const flags = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
  run("npm", ["install", "--prefix", incoming, ...flags, `${name}@${version}`], quietly)
  try {
    renameSync(incoming, home)
  } catch (error) {
    if (!existsSync(path)) throw error
  }
  return path
}
