import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"

import type { Check } from "./inside.ts"

/** Tests that commands have no privileges on the machine. */
export const testPrivileges = (check: Check): void => {
  check(
    "changes nothing of the kernel's, sees none of the host's processes, and has no privileges",
    async ({ probe }) => {
      const file = "/proc/sys/kernel/core_pattern"
      const before = readFileSync(file, "utf8")
      const { processes, writable, status, name } = await probe({
        settings: `echo '|/tmp/evil' > ${file}; echo evil > /proc/sys/kernel/hostname; echo c > /proc/sysrq-trigger`,
        processes: `kill -0 ${process.pid} 2>/dev/null && echo reached; ls /proc | grep -c '^[0-9]'`,
        writable:
          "for file in /proc/[a-z]* /proc/irq/*/* /proc/fs/*; do [ -f $file ] && (: >> $file) && echo $file; done 2>/dev/null",
        status: "grep -E 'NoNewPrivs|CapEff|CapBnd|CapAmb' /proc/self/status",
        name: "cat /proc/sys/kernel/hostname"
      })
      assert.equal(readFileSync(file, "utf8"), before)
      assert.notEqual(name.trim(), hostname())
      assert.ok(!processes.includes("reached") && Number(processes) < 12, processes)
      assert.equal(writable.trim(), "")
      const lines = status
        .trim()
        .split("\n")
        .map((line) => line.split(/:\s+/))
      for (const [key, value = ""] of lines) {
        assert.ok(key === "NoNewPrivs" ? value === "1" : /^0+$/.test(value), `${key} is ${value}`)
      }
      assert.ok(lines.length >= 3)
    }
  )

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
