import assert from "node:assert/strict"

import { Sandbox } from "@haft/core"

import type { Check, SandboxTestLimits } from "./inside.ts"

const mebibyte = 2 ** 20

/** Low limits, which these tests try to exceed. */
export const tight: SandboxTestLimits = {
  processes: 48,
  memoryBytes: 256 * mebibyte,
  fileSizeBytes: 2 * mebibyte,
  openFiles: 64,
  cpuSeconds: 1,
  temporaryBytes: 8 * mebibyte
}

/** Tests that a command that uses too much ends with an error, and that the host goes on. */
export const testLimits = (check: Check): void => {
  check("stops a fork bomb", async ({ perl, sh }) => {
    const ran = await perl(forkUpTo(2000))
    assert.ok(Number(ran.stdout) < 60, `started ${ran.stdout} processes`)
    await sh("b() { b | b & }; b; sleep 0.2", { timeoutMs: 1500 })
    assert.equal((await sh("echo well")).stdout, "well\n")
  })

  check("holds what runs behind a terminal to the same limits", async ({ perl }) => {
    const ran = await perl(forkUpTo(500), { request: { terminal: true } })
    assert.ok(Number(ran.stdout) < 60, `started ${ran.stdout} processes`)
  })

  check("stops an allocation of 10 GB", async ({ perl }) => {
    const ran = await perl(`my $x = "a" x (10 * 2**30); print length $x`)
    assert.notEqual(ran.exitCode, 0)
    assert.equal(ran.stdout, "")
  })

  check("stops many processes that take too much memory together, where it says so", async ({ perl, run }) => {
    const { enforced } = await run(Sandbox.use((sandbox) => sandbox.describe))
    if (!enforced.some((fact) => /memory .*together/.test(fact))) return
    // Each process allocates less than the limit, and keeps it until all others have theirs, or were killed. The pipes
    // tell when that is: the first is at its end when no process has it open any more, and then the second is closed.
    const ran = await perl(`$| = 1; pipe(STARTED, HOLDS); pipe(WAITS, ENDS);
      for (1..20) {
        next if fork();
        close ENDS; $x = "a" x (64 * 2**20); print "held\\n"; close HOLDS; <WAITS>; exit
      }
      close HOLDS; 1 while <STARTED>; close ENDS; 1 while wait() > 0`)
    assert.ok(ran.stdout.split("held").length - 1 < 8, ran.stdout)
  })

  check(
    "stops a file that grows too large, /tmp and /dev/shm together, and too many open files",
    async ({ probe, workspace }) => {
      const { temporary, open } = await probe({
        file: "head -c 10000000 /dev/zero > big",
        temporary:
          "for n in 1 2 3 4 5 6 7 8 9; do for d in /tmp /dev/shm; do head -c 1900000 /dev/zero > $d/$n; done; done 2>/dev/null; cat /tmp/[1-9] /dev/shm/[1-9] | wc -c",
        open: `LC_ALL=C perl -e 'while (@f < 5000) { open(my $f, "<", "/dev/null") or last; push @f, $f } print scalar @f'`
      })
      assert.ok(workspace.bytes("big").length <= tight.fileSizeBytes)
      assert.ok(Number(temporary) > 0 && Number(temporary) <= tight.temporaryBytes, temporary)
      assert.ok(Number(open) > 0 && Number(open) <= tight.openFiles, open)
    }
  )

  check("stops a program that uses up its CPU time", async ({ sh }) => {
    const ran = await sh("while :; do :; done", { timeoutMs: 60_000 })
    assert.deepEqual([ran.timedOut, ran.exitCode === 0], [false, false])
  })
}

const forkUpTo = (most: number): string =>
  `$n = 0; while ($n < ${most}) { $p = fork(); last unless defined $p; if (!$p) { sleep 30; exit } $n++ } print $n`
