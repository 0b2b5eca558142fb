// Rehearses a release from beginning to end, in a copy of the repository and on a registry of its own: versions by
// changesets, everything built and published, then installed into empty projects by npm and by pnpm and used there.
import { spawn } from "node:child_process"
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { type LoopbackRegistry, type Manifest, openLoopbackRegistry } from "./loopback-registry.ts"

/** The most kilobytes a packed package may have: a third more than it needs, so that an accidental file is noticed. */
const budgets: Readonly<Record<string, number>> = {
  "@haft/adapters": 160,
  "@haft/approval": 210,
  "@haft/cluster": 120,
  "@haft/core": 360,
  "@haft/dialect-anthropic": 50,
  "@haft/dialect-claude-code": 66,
  "@haft/dialect-codex": 40,
  "@haft/dialect-gemini-cli": 50,
  "@haft/dialect-mcp-filesystem": 40,
  "@haft/dialect-openai": 25,
  "@haft/dialects": 20,
  "@haft/exec-tools": 140,
  "@haft/fs-tools": 370,
  "@haft/git-tools": 36,
  "@haft/node": 870,
  "@haft/project-tools": 20,
  "@haft/pty-tools": 82,
  "@haft/search-tools": 148,
  "@haft/testing": 144,
  "@haft/web-tools": 118,
  // With the bundled command and the console.
  haft: 2900
}

/** The compilers that a consumer may have, from the lowest that is supported. */
const compilers = [
  "typescript-lowest@npm:typescript@5.9.2",
  "typescript-6@npm:typescript@~6.0.0",
  "typescript@7.0.2"
] as const

const quietly = ["--no-audit", "--no-fund", "--loglevel=error"]
const root = dirname(import.meta.dirname)
const base = mkdtempSync(join(tmpdir(), "haft-rehearsal-"))
const problems: Array<string> = []
const registry = await openLoopbackRegistry(
  `${(await run("npm", ["config", "get", "registry"], root, { env: process.env })).trim().replace(/\/$/, "")}/`
)
try {
  const copy = await copyOfRepository()
  await step("versions, build and publish", () => release(copy))
  checkManifests(registry.published())
  for (const manager of ["npm", "pnpm"] as const) {
    await step(`${manager}: a host with one package`, () => hostWithOne(manager))
    await step(`${manager}: a host with everything`, () => hostWithAll(manager))
  }
  await step("the command by npx", commandByNpx)
  await step("packed files in an empty directory", () => packedFiles(copy))
  for (const style of ["promise", "effect"] as const) await step(`a plugin in ${style} style`, () => pluginOf(style))
} finally {
  registry.close()
  rmSync(base, { recursive: true, force: true })
}
for (const problem of problems) console.error(`✗ ${problem}`)
console.log(`${registry.published().size} packages rehearsed, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

async function step(name: string, play: () => Promise<void>): Promise<void> {
  const start = performance.now()
  await play().catch((error: unknown) =>
    problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  )
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
}

/** A copy of all tracked files as they are now, in a repository with one commit. */
async function copyOfRepository(): Promise<string> {
  const copy = join(base, "repository")
  const files = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
  for (const file of files.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true })
  }
  await run("git", ["init", "--quiet", "--initial-branch=main"], copy)
  await run("git", ["add", "--all"], copy)
  const author = ["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost"]
  await run("git", [...author, "commit", "--quiet", "--message=rehearsal"], copy)
  return copy
}

async function release(copy: string): Promise<void> {
  await run("pnpm", ["install", "--frozen-lockfile", "--prefer-offline"], copy)
  await run("pnpm", ["version-packages"], copy)
  if (readdirSync(join(copy, ".changeset")).some((name) => name.endsWith(".md") && name !== "README.md")) {
    problems.push("changesets are left after versioning")
  }
  useRegistry(copy)
  await run("git", ["config", "user.name", "rehearsal"], copy)
  await run("git", ["config", "user.email", "rehearsal@localhost"], copy)
  await run("pnpm", ["release"], copy)
}

function checkManifests(published: ReturnType<LoopbackRegistry["published"]>): void {
  const expected = readdirSync(join(root, "packages")).length
  if (published.size !== expected) problems.push(`${published.size} packages were published, not ${expected}`)
  for (const [name, { manifest, bytes }] of published) {
    const found = [
      ...leaksOf(manifest).map((range) => `it depends on ${range}`),
      ...(manifest.version === "0.0.0" ? ["it has no version"] : []),
      ...(manifest["license"] === "MIT" ? [] : ["it has no license"]),
      ...(hasSourceConditions(manifest) ? ["its exports lead into the repository's sources"] : []),
      ...(bytes / 1000 > (budgets[name] ?? 0)
        ? [`it weighs ${Math.round(bytes / 1000)} kB packed, not ${budgets[name]}`]
        : [])
    ]
    problems.push(...found.map((problem) => `${name}: ${problem}`))
  }
}

/** Version ranges in a manifest that only mean something in this repository, such as `workspace:^`. */
function leaksOf(manifest: Manifest): ReadonlyArray<string> {
  const kinds = ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"]
  const ranges = kinds.flatMap((kind) => Object.entries((manifest[kind] ?? {}) as Record<string, string>))
  return ranges.map((entry) => entry.join("@")).filter((entry) => /@(workspace|catalog|link|file):/.test(entry))
}

function hasSourceConditions(manifest: Manifest): boolean {
  return JSON.stringify(manifest["exports"]).includes("@haft/source")
}

type Manager = "npm" | "pnpm"

/** A project with one tool package: runs the program of the guide. */
async function hostWithOne(manager: Manager): Promise<void> {
  const guide = readFileSync(join(root, "docs/guides/pick-one-package.md"), "utf8")
  const program = /```ts\n([\s\S]*?)```/.exec(guide)?.[1] ?? "throw new Error('the guide has no program')"
  const packages = ["@haft/core", "@haft/dialects", "@haft/fs-tools", "effect", "zod"]
  await useIn(await project(`${manager}-one`, manager, packages), program)
}

/** A project with all packages: makes a call through `haft`. */
async function hostWithAll(manager: Manager): Promise<void> {
  const names = [...registry.published().keys()]
  const imports = names.map((name, index) => `import * as package${index} from "${name}"`)
  const program = `${imports.join("\n")}
import { openHost } from "haft/promise"

for (const one of [${names.map((_, index) => `package${index}`).join(", ")}]) {
  if (Object.keys(one).length === 0) throw new Error("a package exports nothing")
}
await using host = await openHost({ root: ".", state: "../state-${manager}", plugins: ["@haft/git-tools", "@haft/project-tools"] })
const reply = await host.call("read_file", { path: "package.json" })
if (!reply.ok) throw new Error(reply.text)
const found = await host.call("search_text", { query: "rehearsal-all" })
if (!found.ok) throw new Error(found.text)
`
  await useIn(await project(`${manager}-rehearsal-all`, manager, [...names, "effect", "zod"]), program)
}

async function commandByNpx(): Promise<void> {
  const directory = await project("npx", "npm", [])
  const npx = (...args: ReadonlyArray<string>) => run("npx", ["--yes", "haft", ...args], directory)
  const version = (await npx("--version")).trim()
  const expected = registry.published().get("haft")?.manifest.version
  if (!version.includes(expected ?? "nothing")) problems.push(`npx haft --version says ${version}, not ${expected}`)
  const reply = await npx("call", "read_file", '{"path":"package.json"}', "--json", "--state", join(base, "npx-state"))
  if (!reply.includes('"ok"')) problems.push(`npx haft call answers ${reply}`)
  await checkMcp(directory, expected)
}

/** Makes a new plugin, publishes it, and uses it in a host. */
/** `npx haft mcp` answers on stdio, with its version and its tools. */
async function checkMcp(directory: string, expected: string | undefined): Promise<void> {
  const clientInfo = { name: "rehearsal", version: "1.0.0" }
  const messages = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" }
  ]
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")
  const answers = await run("npx", ["--yes", "haft", "mcp", "--state", join(base, "mcp-state")], directory, { input })
  const [initialized, listed] = answers.split("\n")
  const { result } = JSON.parse(initialized ?? "{}") as { result?: { serverInfo?: { version?: string } } }
  if (result?.serverInfo?.version !== expected) problems.push(`npx haft mcp is not version ${expected}: ${initialized}`)
  if (listed?.includes('"read_file"') !== true) problems.push(`npx haft mcp lists ${listed}`)
}

/** Installs the files of `npm run pack`, as the README does before a first release: the command, MCP and the types. */
async function packedFiles(copy: string): Promise<void> {
  const packs = join(base, "packs")
  await run("pnpm", ["-r", "--filter", "./packages/*", "pack", "--pack-destination", packs], copy)
  const files = readdirSync(packs).map((file) => join(packs, file))
  const directory = await project("packed", "npm", [...files, "effect", "zod"])
  const version = (await run("npx", ["haft", "--version"], directory)).trim()
  const expected = registry.published().get("haft")?.manifest.version
  if (version !== expected) problems.push(`the packed command says ${version}, not ${expected}`)
  await checkMcp(directory, expected)
  await useIn(directory, programOfReadme())
}

/** The program that the README shows. */
function programOfReadme(): string {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  return /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "throw new Error('the README has no program')"
}

async function pluginOf(style: "promise" | "effect"): Promise<void> {
  const name = `haft-plugin-rehearsal-${style}`
  const home = join(base, "npx")
  await run("npx", ["--yes", "haft", "plugin", "new", name, "--style", style], home)
  const directory = join(home, name)
  useRegistry(directory)
  await run("npm", ["install", ...quietly], directory)
  await run("npm", ["test"], directory)
  await run("npm", ["run", "contract"], directory)
  const readme = readFileSync(join(directory, "README.md"), "utf8")
  await run("npm", ["run", "docs"], directory)
  if (readFileSync(join(directory, "README.md"), "utf8") !== readme)
    problems.push(`${name}: its README had not the table that is made of its tools`)
  await run("git", ["init", "--quiet", "--initial-branch=main"], directory)
  await run("npm", ["run", "version"], directory)
  await run("npm", ["publish"], directory)
  const host = await project(`uses-${style}`, "npm", ["haft", "effect", "zod", name])
  writeFileSync(join(host, "haft.config.json"), JSON.stringify({ plugins: [name] }))
  const listed = await run("npx", ["haft", "plugin", "list", "--config", "haft.config.json"], host)
  if (!listed.includes(name)) problems.push(`haft plugin list does not show ${name}:\n${listed}`)
  writeFileSync(join(host, "words.txt"), "one two three\n")
  const options = ["--config", "haft.config.json", "--json", "--state", join(base, `state-${style}`)]
  const reply = await run("npx", ["haft", "call", "count_words", '{"path":"words.txt"}', ...options], host)
  if (!reply.includes("3")) problems.push(`${name} answers ${reply}`)
}

/** A new project with some packages installed, as `npm init` leaves it: a `.ts` file in it is CommonJS. */
async function project(name: string, manager: Manager, packages: ReadonlyArray<string>): Promise<string> {
  const directory = join(base, name)
  mkdirSync(directory)
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, private: true, type: "commonjs" }))
  useRegistry(directory)
  const wanted = packages.length === 0 ? [] : [...packages, ...compilers, "@types/node@^24.0.0"]
  if (manager === "npm" && wanted.length > 0) await run("npm", ["install", ...quietly, ...wanted], directory)
  if (manager === "pnpm") await run("pnpm", ["add", "--loglevel=warn", "--ignore-workspace", ...wanted], directory)
  for (const shared of ["effect", "zod"]) {
    const copies = copiesOf(shared, join(directory, "node_modules"))
    if (wanted.length > 0 && copies.length !== 1)
      problems.push(`${name}: ${copies.length} copies of ${shared}: ${copies.join(", ")}`)
  }
  return directory
}

/** Checks the types of a program in a project, and runs it. */
async function useIn(directory: string, program: string): Promise<void> {
  writeFileSync(join(directory, "main.mts"), program)
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    types: ["node"],
    strict: true,
    noEmit: true
  }
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.mts"] }))
  for (const name of compilers.map((compiler) => compiler.split("@")[0] ?? compiler)) {
    await run(process.execPath, [join(directory, "node_modules", name, "bin/tsc"), "-p", "."], directory)
  }
  await run(process.execPath, ["main.mts"], directory)
}

/** The versions of a package that npm or pnpm have installed, anywhere below `modules`. */
function copiesOf(name: string, modules: string): ReadonlyArray<string> {
  if (!existsSync(modules)) return []
  const files = globSync([`**/node_modules/${name}/package.json`, `${name}/package.json`], { cwd: modules })
  return [...new Set(files.map((file) => dirname(realpathSync(join(modules, file)))))]
}

function useRegistry(directory: string): void {
  const address = registry.url.slice("http:".length)
  writeFileSync(join(directory, ".npmrc"), `registry=${registry.url}/\n${address}/:_authToken=rehearsal\n`)
}

async function run(
  program: string,
  args: ReadonlyArray<string>,
  directory: string,
  { env = environment(), input = "" }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {}
): Promise<string> {
  const child = spawn(program, args, { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"] })
  // A program may end without having read its input.
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  let stdout = ""
  let all = ""
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString()
    all += chunk.toString()
  })
  child.stderr.on("data", (chunk: Buffer) => void (all += chunk.toString()))
  const code = await new Promise((resolve) => {
    child.on("close", resolve)
    child.on("error", resolve)
  })
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${String(code)}\n${all.slice(-4000)}`)
  return stdout
}

// Without npm's own variables, which the programs started here would read as their settings.
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_)|^(CI|INIT_CWD|HAFT_NO_SKIP)$/i.test(name)
  )
  return {
    ...Object.fromEntries(inherited),
    XDG_STATE_HOME: join(base, "state"),
    NPM_CONFIG_USERCONFIG: join(base, "npmrc"),
    NPM_CONFIG_CACHE: join(base, "npm-cache"),
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1"
  }
}
