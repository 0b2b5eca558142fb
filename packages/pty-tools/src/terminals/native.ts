import { type Command, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

/** A window's size in characters. */
export interface WindowSize {
  readonly cols: number
  readonly rows: number
}

/** Interface used of the native module's terminals. */
export interface NativeTerminal {
  readonly pid: number
  /** The device that programs see, where the platform has one. */
  readonly ptsName?: string
  /** The host's end of it, which never waits. */
  readonly fd?: number
  readonly write: (text: string) => void
  readonly resize: (cols: number, rows: number) => void
  readonly kill: (signal?: string) => void
  readonly destroy: () => void
  readonly onData: (listener: (chunk: Uint8Array) => void) => unknown
  readonly onExit: (listener: (end: { readonly exitCode: number; readonly signal?: number }) => void) => unknown
}

/** Starts a command behind a new terminal. */
export type SpawnTerminal = (command: Command, size: WindowSize) => NativeTerminal

/** Brings the native module, at the first terminal and not before: hosts that open none do not pay for it. */
export const loadNative = (
  load: () => Promise<unknown> = () => import("@lydell/node-pty")
): Effect.Effect<SpawnTerminal, ToolError<"terminal_unavailable">> =>
  Effect.tryPromise(load).pipe(
    Effect.map((module) => spawnWith(module as NativeModule)),
    Effect.catch(() =>
      toolError(
        "terminal_unavailable",
        `terminals need the native module @lydell/node-pty, and it does not load on ${process.platform}-${process.arch}`,
        {
          suggestion:
            "Install it again with optional dependencies on, on a platform it is built for (Linux with glibc, macOS or Windows; x64 or arm64), or run commands without a terminal."
        }
      )
    )
  )

interface NativeModule {
  readonly spawn: (program: string, args: ReadonlyArray<string>, options: object) => unknown
}

const spawnWith =
  ({ spawn }: NativeModule): SpawnTerminal =>
  (command, { cols, rows }) => {
    const { program, args } = command
    const options = { cols, rows, cwd: command.directory, env: command.env, name: command.env["TERM"], encoding: null }
    return readToTheEnd(spawn(program, [...args], options) as NativeTerminal & Partial<WithSocket>)
  }

interface WithSocket {
  readonly _socket: { readonly destroyed: boolean; destroy: () => unknown }
}

/** Writes what a terminal takes at once, and says how many bytes that was. */
export type Feed = (terminal: number, bytes: Uint8Array) => number

export interface Typist {
  readonly type: (text: string) => void
  /** Bytes that the program has left unread, beyond what the terminal itself holds. */
  readonly unreadBytes: () => number
}

const retryMs = 10

/**
 * Types without ever waiting for the program. The native module's own writing turns in a circle, and the whole host
 * with it, while a program does not read what it is given.
 */
export const typist = (native: NativeTerminal, feed: Feed): Typist => {
  const { fd } = native
  const { _socket: socket } = native as NativeTerminal & Partial<WithSocket>
  if (fd === undefined || socket === undefined) return { type: (text) => native.write(text), unreadBytes: () => 0 }
  let waiting = new Uint8Array()
  let timer: NodeJS.Timeout | undefined
  const send = (): void => {
    timer = undefined
    // A closed descriptor's number may be another file's by now.
    if (socket.destroyed) return
    try {
      waiting = waiting.subarray(feed(fd, waiting))
    } catch {
      // Nobody is left at the other end.
      return
    }
    if (waiting.length > 0) timer = setTimeout(send, retryMs).unref()
  }
  return {
    type: (text) => {
      waiting = Buffer.concat([waiting, Buffer.from(text)])
      if (timer === undefined) send()
    },
    unreadBytes: () => waiting.length
  }
}

/** For a program's last words, should its children go on printing after it. */
const drainMs = 500

// The native module gives the device 200 ms after the program's end. On a busy machine that may be over before the
// last output was looked at even once, so the device is looked at before it is closed. And many programs close their
// side of it just before they end: closing ours then would hang up on them, and their exit code would be lost.
const readToTheEnd = (native: NativeTerminal & Partial<WithSocket>): NativeTerminal => {
  const { _socket: socket } = native
  if (socket === undefined) return native
  const destroy = socket.destroy.bind(socket)
  let lastData = 0
  native.onData(() => (lastData = performance.now()))
  const destroyWhenRead = (deadline: number): void => {
    const before = lastData
    const look = (): void => {
      const isOver = lastData === before && !isAlive(native.pid)
      if (isOver || performance.now() > deadline) destroy()
      else setTimeout(destroyWhenRead, 1, deadline)
    }
    setImmediate(() => setImmediate(look))
  }
  socket.destroy = () => destroyWhenRead(performance.now() + drainMs)
  return native
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
