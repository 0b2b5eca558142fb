import assert from "node:assert/strict"
import { createSocket } from "node:dgram"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { homedir, networkInterfaces } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Processes, type RunOptions, Sandbox, type SandboxRequest } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import { temporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts"

/** What a sandbox is told to allow one command. */
export interface SandboxTestLimits {
  readonly processes: number
  readonly memoryBytes: number
  readonly fileSizeBytes: number
  readonly openFiles: number
  readonly cpuSeconds: number
  readonly temporaryBytes: number
}

/** A sandbox to be put to the test. `sh` and `perl` must be there inside. */
export interface SandboxUnderTest {
  readonly sandbox: (
    workspace: TemporaryWorkspace,
    limits?: SandboxTestLimits
  ) => Layer.Layer<Sandbox | Processes, unknown>
  /** Whether it can tell how many processes a command left; true when absent. */
  readonly countsLeftovers?: boolean
  /** The test runner's own functions. */
  readonly it: (title: string, test: () => Promise<void>, timeoutMs?: number) => void
  readonly afterAll: (cleanUp: () => Promise<void>) => void
}

/** Tells a test runner everything a sandbox has to hold. Each test fails with what got out, or what was left behind. */
export const testSandbox = (subject: SandboxUnderTest): void => {
  const wide = new SharedSandbox((workspace) => subject.sandbox(workspace))
  const narrow = new SharedSandbox((workspace) => subject.sandbox(workspace, tight))
  subject.afterAll(async () => {
    await wide.close()
    await narrow.close()
  })
  const check: Check = (title, test, limits) =>
    subject.it(title, () => test((limits === undefined ? wide : narrow).open()), 60_000)

  runs(check)
  network(check)
  files(check)
  privileges(check)
  repository(check)
  usage(check)
  endings(check, subject.countsLeftovers ?? true)
}

type Check = (title: string, test: (inside: Inside) => Promise<void>, limits?: SandboxTestLimits) => void

interface Ran {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly leftRunning: number
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
}

interface Inside {
  readonly workspace: TemporaryWorkspace
  readonly sh: (code: string, options?: InsideOptions) => Promise<Ran>
  readonly perl: (code: string, options?: InsideOptions) => Promise<Ran>
  readonly run: <A, E>(effect: Effect.Effect<A, E, Sandbox | Processes>) => Promise<A>
}

interface InsideOptions extends Pick<RunOptions, "timeoutMs"> {
  readonly request?: SandboxRequest
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

const runs = (check: Check): void => {
  check("runs a command in the workspace and reports how it ended", async ({ sh, workspace }) => {
    const ran = await sh("pwd; echo trouble >&2; exit 3")
    assert.deepEqual([ran.exitCode, ran.stdout, ran.stderr], [3, `${workspace.root}\n`, "trouble\n"])
  })

  check("says what it enforces", async ({ run }) => {
    const described = await run(Sandbox.use((sandbox) => sandbox.describe))
    assert.equal(described.isolated, true)
    assert.ok(described.kind !== "" && described.enforced.length > 0)
  })

  check("says when there is no such program", async ({ run, workspace }) => {
    const command = { program: "no-such-program", args: [], directory: workspace.root, env: {} }
    const ended = await run(Effect.exit(wrapAndRun(command, {}, {})))
    assert.match(JSON.stringify(ended), /command_not_found/)
  })

  check("reports a signal", async ({ sh }) => {
    assert.equal((await sh("kill -9 $$")).signal, "SIGKILL")
  })

  check("lets a command be interrupted", async ({ sh }) => {
    const ignored = /^SigIgn:\s+([\da-f]+)$/m.exec((await sh("cat /proc/self/status")).stdout)?.[1] ?? "f"
    assert.equal(Number.parseInt(ignored, 16) & 0b10, 0, `signals ignored: ${ignored}`)
  })

  check("closes standard input unless there is some", async ({ sh }) => {
    assert.equal((await sh("cat; echo done")).stdout, "done\n")
    assert.equal((await sh("cat", { stdin: "fed" })).stdout, "fed")
  })

  check("hands over the call's environment and none of the host's secrets", async ({ sh }) => {
    process.env["HAFT_TEST_SECRET"] = "do-not-tell"
    const { stdout } = await sh("env", { env: { GIVEN: "yes ünd 'no'" } })
    delete process.env["HAFT_TEST_SECRET"]
    assert.ok(stdout.includes("GIVEN=yes ünd 'no'\n"))
    assert.ok(!stdout.includes("do-not-tell"))
    assert.ok(stdout.includes("PAGER=cat\n") && stdout.includes("TERM=dumb\n"))
  })

  check("is not taken over by variables that change how programs load", async ({ sh, workspace }) => {
    workspace.put("evil.sh", "touch evil-ran")
    const env = {
      LD_PRELOAD: join(workspace.root, "evil.so"),
      PERL5OPT: "-Mevil",
      ENV: join(workspace.root, "evil.sh")
    }
    assert.equal((await sh("echo fine", { env })).exitCode, 0)
  })

  check("runs behind a terminal too", async ({ sh }) => {
    const ran = await sh("echo there; exit 4", { request: { terminal: true } })
    assert.deepEqual([ran.exitCode, ran.stdout], [4, "there\n"])
  })

  check("takes odd file names and arguments as they are", async ({ workspace, run }) => {
    const args = ["%s|", "a b", "it's", "$(id)", "line\nbreak", "日本"]
    const command = { program: "printf", args, directory: workspace.root, env: {} }
    const ran = await run(wrapAndRun(command, {}, {}))
    assert.equal(ran.stdout, "a b|it's|$(id)|line\nbreak|日本|")
  })
}

const network = (check: Check): void => {
  check("has no TCP to the host, by loopback or by any other address", async ({ perl }) => {
    await using server = await listen(
      createServer((socket) => socket.end("reached")),
      { host: "0.0.0.0", port: 0 }
    )
    const address = server.server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const hosts = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ family }) => family === "IPv4")
    )
    for (const { address: host } of hosts) {
      const { stdout } = await perl(tcp(host, port))
      assert.equal(stdout, "no", `reached ${host}`)
    }
    assert.equal((await perl(tcp("192.0.2.1", 80))).stdout, "no")
  })

  check("has no UDP to the host", async ({ perl }) => {
    const socket = createSocket("udp4")
    let received = 0
    socket.on("message", () => received++)
    await new Promise<void>((resolve) => socket.bind(0, "0.0.0.0", resolve))
    const { port } = socket.address()
    await perl(`socket($s, 2, 2, 17); send($s, "hi", 0, pack("S n C4 x8", 2, ${port}, 127, 0, 0, 1)); print "sent"`)
    await sleep(50)
    socket.close()
    assert.equal(received, 0)
  })

  check("does not reach the host's abstract sockets", async ({ perl }) => {
    const name = `haft-test-${process.pid}-${Date.now()}`
    await using _ = await listen(
      createServer((socket) => socket.end("reached")),
      { path: `\0${name}` }
    )
    const code = `socket($s, 1, 1, 0); print connect($s, pack("S a*", 1, "\\0${name}")) ? "yes" : "no"`
    assert.equal((await perl(code)).stdout, "no")
  })

  check("has no vsock and no raw packets", async ({ perl }) => {
    for (const family of [40, 17]) {
      const { stdout } = await perl(`print socket($s, ${family}, ${family === 40 ? 1 : 3}, 0) ? "yes" : "no"`)
      assert.equal(stdout, "no", `address family ${family}`)
    }
  })

  check("has a loopback of its own", async ({ perl }) => {
    const code = `socket($l, 2, 1, 6); bind($l, pack("S n C4 x8", 2, 4711, 127, 0, 0, 1)) or print "unbound"; listen($l, 1);
      socket($s, 2, 1, 6); print connect($s, pack("S n C4 x8", 2, 4711, 127, 0, 0, 1)) ? "yes" : "no"`
    assert.equal((await perl(code)).stdout, "yes")
  })
}

const files = (check: Check): void => {
  check("sees nothing of the host's files but the system's programs", async ({ sh, workspace }) => {
    const secret = join(workspace.outside, "secret")
    writeFileSync(secret, "do-not-tell")
    chmodSync(secret, 0o644)
    const { stdout } = await sh(
      `cat '${secret}' /etc/shadow '${homedir()}'/.[a-z]* 2>/dev/null; ls '${workspace.outside}' '${workspace.state}' 2>&1`
    )
    assert.ok(!stdout.includes("do-not-tell") && !stdout.includes("secret\n"))
    assert.ok(!stdout.includes("root:"))
  })

  check("sees neither home nor state directory", async ({ sh, workspace }) => {
    writeFileSync(join(workspace.state, "rules.json"), "[]")
    const names = readdirSync(homedir())
    const { stdout } = await sh(`ls -A '${homedir()}' '${workspace.state}' 2>/dev/null`)
    assert.deepEqual(
      names.filter((name) => name.length > 3 && stdout.split("\n").includes(name)),
      []
    )
    assert.ok(!stdout.includes("rules.json"))
  })

  check("changes the workspace and nothing else", async ({ sh, workspace }) => {
    const marker = `haft-test-${process.pid}`
    const places = [workspace.outside, workspace.state, homedir(), "/usr", "/etc", "/var", "/"]
    await sh(places.map((place) => `touch '${place}/${marker}'`).join("; ") + "; echo new > made.txt; mkdir -p a/b")
    assert.deepEqual(
      places.filter((place) => existsSync(join(place, marker))),
      []
    )
    assert.equal(workspace.read("made.txt"), "new\n")
  })

  check("does not follow links out of the workspace", async ({ sh, workspace }) => {
    writeFileSync(join(workspace.outside, "secret"), "do-not-tell")
    workspace.put("link", { symlink: join(workspace.outside, "secret") })
    assert.ok(!(await sh("cat link")).stdout.includes("do-not-tell"))
  })

  check("can have the workspace read-only", async ({ sh, workspace }) => {
    workspace.put("here.txt", "here")
    const ran = await sh("cat here.txt; echo changed > here.txt; touch new.txt", { request: { writable: false } })
    assert.equal(ran.stdout, "here")
    assert.equal(workspace.read("here.txt"), "here")
    assert.equal(workspace.exists("new.txt"), false)
  })

  check("has a /tmp of its own, gone with the command", async ({ sh }) => {
    const name = `haft-test-${process.pid}-${Date.now()}`
    assert.equal((await sh(`echo x > /tmp/${name} && echo ok`)).stdout, "ok\n")
    assert.equal(existsSync(`/tmp/${name}`), false)
    assert.notEqual((await sh(`cat /tmp/${name}`)).exitCode, 0)
  })
}

const privileges = (check: Check): void => {
  check("can't change the kernel's settings", async ({ sh }) => {
    const file = "/proc/sys/kernel/core_pattern"
    const before = readFileSync(file, "utf8")
    await sh(`echo '|/tmp/evil' > ${file}; echo evil > /proc/sys/kernel/hostname; echo c > /proc/sysrq-trigger`)
    assert.equal(readFileSync(file, "utf8"), before)
  })

  check("sees and reaches none of the host's processes", async ({ sh }) => {
    const { stdout } = await sh(`kill -0 ${process.pid} 2>/dev/null && echo reached; ls /proc | grep -c '^[0-9]'`)
    assert.ok(!stdout.includes("reached") && Number(stdout) < 12, stdout)
  })

  check("has no privileges and gets none", async ({ sh }) => {
    const { stdout } = await sh("grep -E 'NoNewPrivs|CapEff|CapBnd|CapAmb' /proc/self/status")
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(/:\s+/))
    for (const [name, value = ""] of lines) {
      assert.ok(name === "NoNewPrivs" ? value === "1" : /^0+$/.test(value), `${name} is ${value}`)
    }
    assert.ok(lines.length >= 3)
  })

  check("makes no user namespace, mounts nothing, and has no io_uring", async ({ perl }) => {
    const calls =
      process.arch === "arm64" ? { unshare: 97, mount: 40, uring: 425 } : { unshare: 272, mount: 165, uring: 425 }
    const code = `my ($a, $b, $p) = ("none\\0", "tmpfs\\0", "\\0" x 120);
      print syscall(${calls.unshare}, 0x10000000) == 0 ? "user " : "";
      print syscall(${calls.mount}, $a, "/tmp\\0", $b, 0, 0) == 0 ? "mount " : "";
      print syscall(${calls.uring}, 4, $p) >= 0 ? "uring " : "";`
    assert.equal((await perl(code)).stdout, "")
  })
}

const repository = (check: Check): void => {
  check("leaves git's hooks and configuration, and haft's, as they are", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    workspace.put(".git/HEAD", "ref: refs/heads/main\n")
    workspace.put(".git/hooks/pre-commit.sample", "sample")
    workspace.put("haft.config.json", "{}")
    workspace.put(".vscode/tasks.json", "{}")
    await sh(`
      echo evil > .git/hooks/pre-commit; echo evil >> .git/config; echo evil > haft.config.json; echo evil > .vscode/tasks.json
      mv .git elsewhere; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit
      rm -rf .git/hooks; mv .git/hooks .git/old; ln -s /tmp .git/hooks; mv haft.config.json x; rm -rf .vscode; mv .vscode y
      mv .git/config .git/c; rm -f .git/config; echo '[core] hooksPath = /tmp' > .git/config`)
    assert.deepEqual(readdirSync(join(workspace.root, ".git/hooks")), ["pre-commit.sample"])
    assert.equal(workspace.read(".git/config"), "[core]\n")
    assert.equal(workspace.read("haft.config.json"), "{}")
    assert.equal(workspace.read(".vscode/tasks.json"), "{}")
  })

  check("keeps hooks out of a repository that has none yet", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    await sh("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit")
    assert.equal(workspace.exists(".git/hooks/pre-commit"), false)
  })

  check("lets git do its work all the same", async ({ sh, workspace }) => {
    workspace.put(".git/config", "[core]\n")
    mkdirSync(join(workspace.root, ".git/objects"))
    await sh("echo object > .git/objects/aa; echo ref > .git/HEAD")
    assert.equal(workspace.read(".git/objects/aa"), "object\n")
  })
}

const mebibyte = 2 ** 20

const tight: SandboxTestLimits = {
  processes: 48,
  memoryBytes: 256 * mebibyte,
  fileSizeBytes: 2 * mebibyte,
  openFiles: 64,
  cpuSeconds: 1,
  temporaryBytes: 8 * mebibyte
}

const usage = (check: Check): void => {
  check(
    "stops a fork bomb",
    async ({ perl, sh }) => {
      const ran = await perl(
        `$n = 0; while ($n < 2000) { $p = fork(); last unless defined $p; if (!$p) { sleep 30; exit } $n++ } print $n`
      )
      assert.ok(Number(ran.stdout) < 60, `started ${ran.stdout} processes`)
      await sh("b() { b | b & }; b; sleep 0.2", { timeoutMs: 1500 })
      assert.equal((await sh("echo well")).stdout, "well\n")
    },
    tight
  )

  check(
    "stops an allocation of 10 GB",
    async ({ perl }) => {
      const ran = await perl(`my $x = "a" x (10 * 2**30); print length $x`)
      assert.notEqual(ran.exitCode, 0)
      assert.equal(ran.stdout, "")
    },
    tight
  )

  check(
    "stops many processes that take too much memory together, where it says so",
    async ({ perl, run }) => {
      const { enforced } = await run(Sandbox.use((sandbox) => sandbox.describe))
      if (!enforced.some((fact) => /memory .*together/.test(fact))) return
      // Each takes less than the limit, and holds it until the others have theirs or are gone.
      const ran = await perl(`$| = 1;
        for (1..20) { next if fork(); $x = "a" x (64 * 2**20); print "held\\n"; sleep 2; exit } 1 while wait() > 0`)
      assert.ok(ran.stdout.split("held").length - 1 < 8, ran.stdout)
    },
    tight
  )

  check(
    "holds what runs behind a terminal to the same limits",
    async ({ perl }) => {
      const ran = await perl(
        `$n = 0; while ($n < 500) { $p = fork(); last unless defined $p; if (!$p) { sleep 30; exit } $n++ } print $n`,
        { request: { terminal: true } }
      )
      assert.ok(Number(ran.stdout) < 60, `started ${ran.stdout} processes`)
    },
    tight
  )

  check(
    "stops a file that grows too large, and a full /tmp",
    async ({ sh, workspace }) => {
      await sh("head -c 10000000 /dev/zero > big; head -c 1900000 /dev/zero > /tmp/1")
      assert.ok(workspace.bytes("big").length <= tight.fileSizeBytes)
      const { stdout } = await sh(
        "for n in 1 2 3 4 5 6 7 8 9; do head -c 1900000 /dev/zero > /tmp/$n; done; cat /tmp/* | wc -c"
      )
      assert.ok(Number(stdout) <= tight.temporaryBytes, stdout)
    },
    tight
  )

  check(
    "stops a program that opens too many files",
    async ({ perl }) => {
      const { stdout } = await perl(
        `while (@f < 5000) { open(my $f, "<", "/dev/null") or last; push @f, $f } print scalar @f`
      )
      assert.ok(Number(stdout) <= tight.openFiles, stdout)
    },
    tight
  )

  check(
    "stops a program that uses up its CPU time",
    async ({ sh }) => {
      const ran = await sh("while :; do :; done", { timeoutMs: 20_000 })
      assert.deepEqual([ran.timedOut, ran.exitCode === 0], [false, false])
    },
    tight
  )

  check("lets a flood of output through without keeping it", async ({ sh }) => {
    const ran = await sh("head -c 50000000 /dev/zero")
    assert.equal(ran.bytes, 50_000_000)
  })
}

const endings = (check: Check, countsLeftovers: boolean): void => {
  const busy =
    "(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done' &) ; trap '' TERM; while :; do sleep 1; done"

  const isStill = async (workspace: TemporaryWorkspace): Promise<boolean> => {
    const before = workspace.exists("beat") ? workspace.read("beat") : ""
    await sleep(150)
    return (workspace.exists("beat") ? workspace.read("beat") : "") === before
  }

  check("ends everything at the time-out, daemons too", async ({ sh, workspace }) => {
    const ran = await sh(busy, { timeoutMs: 500 })
    assert.equal(ran.timedOut, true)
    assert.ok(await isStill(workspace), "something still writes")
  })

  check("ends everything when the call is cancelled, at any moment", async ({ run, workspace }) => {
    const command = { program: "sh", args: ["-c", busy], directory: workspace.root, env: {} }
    for (const delay of [0, 1, 2, 4, 8, 16, 200]) {
      await run(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(wrapAndRun(command, {}, {}), { startImmediately: true })
          yield* Effect.sleep(delay)
          yield* Fiber.interrupt(fiber)
        })
      )
    }
    assert.ok(await isStill(workspace), "something still writes")
  })

  check("does not wait for a background child, and says that there was one", async ({ sh }) => {
    const began = Date.now()
    const ran = await sh("sleep 30 & echo started")
    assert.deepEqual([ran.exitCode, ran.stdout], [0, "started\n"])
    assert.equal(ran.leftRunning, countsLeftovers ? 1 : 0)
    assert.ok(Date.now() - began < 20_000)
  })
}

/** One host for many tests, each of which finds an empty workspace. */
class SharedSandbox {
  readonly #workspace = temporaryWorkspace()
  readonly #runtime: ManagedRuntime.ManagedRuntime<Sandbox | Processes, unknown>

  constructor(sandbox: (workspace: TemporaryWorkspace) => Layer.Layer<Sandbox | Processes, unknown>) {
    this.#runtime = ManagedRuntime.make(sandbox(this.#workspace))
  }

  open(): Inside {
    const workspace = this.#workspace
    for (const directory of [workspace.root, workspace.outside, workspace.state]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true })
    }
    return {
      workspace,
      sh: this.#inside("sh", "-c"),
      perl: this.#inside("perl", "-e"),
      run: (effect) => this.#runtime.runPromise(effect)
    }
  }

  async close(): Promise<void> {
    await this.#runtime.dispose()
    this.#workspace.remove()
  }

  #inside(program: string, flag: string): Inside["sh"] {
    return (code, { request = {}, env = {}, stdin, timeoutMs = 30_000 } = {}) => {
      const directory = this.#workspace.root
      const command = { program, args: [flag, code], directory, env, ...(stdin !== undefined && { stdin }) }
      return this.#runtime.runPromise(wrapAndRun(command, request, { timeoutMs }))
    }
  }
}

const wrapAndRun = Effect.fnUntraced(function* (
  command: Parameters<Sandbox["Service"]["wrap"]>[0],
  request: SandboxRequest,
  options: RunOptions
) {
  const sandbox = yield* Sandbox
  const processes = yield* Processes
  const kept = { stdout: "", stderr: "", bytes: 0 }
  const wrapped = yield* sandbox.wrap(command, request)
  const end = yield* processes.run(wrapped, {
    ...options,
    onStdout: (chunk) => {
      kept.bytes += chunk.length
      if (kept.stdout.length < 100_000) kept.stdout += Buffer.from(chunk).toString()
    },
    onStderr: (chunk) => {
      if (kept.stderr.length < 100_000) kept.stderr += Buffer.from(chunk).toString()
    }
  })
  return { ...end, ...kept }
})

const tcp = (host: string, port: number): string =>
  `$SIG{ALRM} = sub { print "no"; exit }; alarm 2; socket($s, 2, 1, 6);
   print connect($s, pack("S n C4 x8", 2, ${port}, ${host.replaceAll(".", ",")})) ? "yes" : "no"`

const listen = async (
  server: Server,
  where: { readonly host: string; readonly port: number } | { readonly path: string }
): Promise<{ readonly server: Server; readonly [Symbol.asyncDispose]: () => Promise<void> }> => {
  await new Promise<void>((resolve) => server.listen(where, resolve))
  return {
    server,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve()))
  }
}
