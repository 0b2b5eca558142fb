/**
 * A seccomp filter as the kernel takes it: an array of `struct sock_filter`. It closes what namespaces leave open:
 * sockets of families without a namespace (vsock reaches the hypervisor), io_uring (which goes round filters),
 * pushing characters into the terminal's input, keyrings of the host, and namespaces within the sandbox. And it lets
 * nobody make a file setuid or setgid: in a workspace it would have its power on the host.
 * Undefined on machines whose system call numbers are not listed.
 */
export const seccompFilter = (architecture: string = process.arch): Uint8Array | undefined => {
  const numbers = systemCalls[architecture]
  return numbers === undefined ? undefined : assemble(programFor(numbers))
}

/** Seccomp profile in the form of docker and podman. */
export const containerProfile = (): object => {
  const rule = (names: ReadonlyArray<string>, errnoRet: number, ...conditions: ReadonlyArray<object>) => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet,
    ...(conditions.length > 0 && { args: conditions })
  })
  const equal = (index: number, value: number) => ({ index, value, op: "SCMP_CMP_EQ" })
  const hasBit = (index: number, bit: number) => ({ index, value: bit, valueTwo: bit, op: "SCMP_CMP_MASKED_EQ" })
  const masked = hasBit(0, newUserNamespace)
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [
      rule(unknownNames, 38),
      rule(forbiddenNames, 1),
      ...Array.from({ length: 64 }, (_, family) => family)
        .filter((family) => !families.includes(family))
        .map((family) => rule(["socket", "socketpair"], 97, equal(0, family))),
      ...terminalTricks.map((request) => rule(["ioctl"], 1, equal(1, request))),
      rule(["clone", "unshare"], 1, masked),
      ...[0o4000, 0o2000].flatMap((bit) => [
        rule(["chmod", "fchmod", "creat", "mknod"], 1, hasBit(1, bit)),
        rule(["fchmodat", "fchmodat2", "mknodat"], 1, hasBit(2, bit)),
        rule(["open"], 1, hasBit(1, makesFile), hasBit(2, bit)),
        rule(["open"], 1, hasBit(1, makesNameless), hasBit(2, bit)),
        rule(["openat"], 1, hasBit(2, makesFile), hasBit(3, bit)),
        rule(["openat"], 1, hasBit(2, makesNameless), hasBit(3, bit))
      ])
    ]
  }
}

/** Answered as if the kernel had never heard of them, so that programs fall back to something older. */
// The arguments of the last two lie in memory, where no filter sees them.
const unknownNames = ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "openat2"]

const forbiddenNames = [
  "add_key",
  "request_key",
  "keyctl",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "mount",
  "umount2",
  "pivot_root",
  "swapon",
  "swapoff",
  "reboot",
  "setns",
  "open_by_handle_at",
  "open_tree",
  "move_mount",
  "fsopen",
  "fsmount",
  "mount_setattr"
]

interface SystemCalls {
  readonly audit: number
  readonly socket: number
  readonly socketpair: number
  readonly ioctl: number
  readonly clone: number
  readonly unshare: number
  /** Calls that set permission bits, with the argument that holds them. */
  readonly setMode: ReadonlyArray<readonly [number: number, mode: number]>
  /** Calls that may make a file, with the arguments that hold flags and permission bits. */
  readonly open: ReadonlyArray<readonly [number: number, flags: number, mode: number]>
  /** In the order of the names. */
  readonly unknown: ReadonlyArray<number>
  readonly forbidden: ReadonlyArray<number>
}

const systemCalls: Readonly<Record<string, SystemCalls>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    clone: 56,
    unshare: 272,
    setMode: [
      [90, 1],
      [91, 1],
      [85, 1],
      [133, 1],
      [268, 2],
      [452, 2],
      [259, 2]
    ],
    open: [
      [2, 1, 2],
      [257, 2, 3]
    ],
    unknown: [425, 426, 427, 435, 437],
    forbidden: [
      248, 249, 250, 321, 298, 323, 246, 320, 175, 313, 176, 165, 166, 155, 167, 168, 169, 308, 304, 428, 429, 430, 432,
      442
    ]
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    clone: 220,
    unshare: 97,
    setMode: [
      [52, 1],
      [53, 2],
      [452, 2],
      [33, 2]
    ],
    open: [[56, 2, 3]],
    unknown: [425, 426, 427, 435, 437],
    forbidden: [
      217, 218, 219, 280, 241, 282, 104, 294, 105, 273, 106, 40, 39, 41, 224, 225, 142, 268, 265, 428, 429, 430, 432,
      442
    ]
  }
}

const allow = 0x7fff0000
const errno = (number: number): number => 0x00050000 | number
const notPermitted = errno(1)
const noSuchCall = errno(38)
const noSuchFamily = errno(97)

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: what is left of them is up to the network namespace. */
const families = [1, 2, 10, 16]
/** TIOCSTI and TIOCLINUX type into the terminal that started the sandbox. */
const terminalTricks = [0x5412, 0x541c]
const newUserNamespace = 0x10000000
/** O_CREAT and the bit of O_TMPFILE: without one of them the mode is not looked at. */
const makesFile = 0x40
const makesNameless = 0x400000
/** S_ISUID and S_ISGID. */
const privilegedModes = 0o6000

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number]

const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const give = (value: number): Instruction => [0x06, 0, 0, value]
const skipUnlessEqual = (value: number, count: number): Instruction => [0x15, 0, count, value]
const skipIfEqual = (value: number, count: number): Instruction => [0x15, count, 0, value]
const skipUnlessAtLeast = (value: number, count: number): Instruction => [0x35, 0, count, value]
const skipUnlessSet = (bits: number, count: number): Instruction => [0x45, 0, count, bits]

// Offsets in `struct seccomp_data`; arguments are 64 bits wide and the lower half comes first.
const numberAt = 0
const architectureAt = 4
const argumentAt = (index: number): number => 16 + 8 * index

const programFor = (calls: SystemCalls): ReadonlyArray<Instruction> => [
  load(architectureAt),
  skipIfEqual(calls.audit, 1),
  give(noSuchCall),
  load(numberAt),
  // Another numbering of the same machine (x32), which would go round everything below.
  skipUnlessAtLeast(0x40000000, 1),
  give(noSuchCall),
  ...calls.unknown.flatMap((number) => [skipUnlessEqual(number, 1), give(noSuchCall)]),
  ...calls.forbidden.flatMap((number) => [skipUnlessEqual(number, 1), give(notPermitted)]),
  ...[calls.socket, calls.socketpair].flatMap((number) =>
    inspect(number, 0, [
      ...families.map((family, index) => skipIfEqual(family, families.length - index)),
      give(noSuchFamily),
      give(allow)
    ])
  ),
  ...inspect(calls.ioctl, 1, [
    ...terminalTricks.flatMap((request) => [skipUnlessEqual(request, 1), give(notPermitted)]),
    give(allow)
  ]),
  ...[calls.clone, calls.unshare].flatMap((number) =>
    inspect(number, 0, [skipUnlessSet(newUserNamespace, 1), give(notPermitted), give(allow)])
  ),
  ...calls.setMode.flatMap(([number, mode]) =>
    inspect(number, mode, [skipUnlessSet(privilegedModes, 1), give(notPermitted), give(allow)])
  ),
  ...calls.open.flatMap(([number, flags, mode]) =>
    inspect(number, flags, [
      skipUnlessSet(makesFile | makesNameless, 3),
      load(argumentAt(mode)),
      skipUnlessSet(privilegedModes, 1),
      give(notPermitted),
      give(allow)
    ])
  ),
  give(allow)
]

const inspect = (number: number, argument: number, decide: ReadonlyArray<Instruction>): ReadonlyArray<Instruction> => [
  skipUnlessEqual(number, decide.length + 1),
  load(argumentAt(argument)),
  ...decide
]

const assemble = (program: ReadonlyArray<Instruction>): Uint8Array => {
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  program.forEach(([code, whenTrue, whenFalse, operand], index) => {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, whenTrue)
    bytes.setUint8(index * 8 + 3, whenFalse)
    bytes.setUint32(index * 8 + 4, operand, true)
  })
  return new Uint8Array(bytes.buffer)
}
