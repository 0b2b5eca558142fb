import { Processes, type ToolError } from "@haft/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

import { networkListeners } from "../../embedded-scripts.ts"
import { noNetwork, type OpenNetwork, sandboxNetworks } from "../../network/sandbox-networks.ts"
import { withLaunch } from "../../process/prepared-launch.ts"
import { type ContainerEngine, engineCommand, mountOption } from "./engine.ts"

/** How long the engine may take to start the container that prepares a network. */
const startTimeoutMs = 30_000

/**
 * Networks of containers. A container of its own prepares the network namespace, hands the listening sockets to the host
 * and does nothing else; the command's container joins that namespace, and so has neither the capability nor the socket
 * file that this takes.
 */
export const containerNetworks = Effect.fnUntraced(function* (
  engine: ContainerEngine,
  image: string
): Effect.fn.Return<OpenNetwork, never, Processes | Scope.Scope> {
  const processes = yield* Processes
  const open = yield* sandboxNetworks
  const prepare = Effect.fnUntraced(function* (name: string, relay: string, listeners: string) {
    const args = ["run", ...holderOptions(engine, name, relay), image, "perl", "-e", networkListeners, "-e", stay]
    const command = withLaunch(engineCommand(engine, args, { HAFT_NETWORK: listeners }), {
      alsoKill: Effect.suspend(() => engine.remove(name, hasStarted)),
      ifHostDies: engine.removeAll
    })
    const ready = Deferred.makeUnsafe<void, ToolError<"sandbox_error">>()
    let said = ""
    let hasStarted = false
    const holding = processes
      .run(command, {
        onStdout: () => {
          hasStarted = true
          Deferred.doneUnsafe(ready, Effect.void)
        },
        onStderr: (chunk) =>
          void (said += Buffer.from(chunk)
            .toString()
            .slice(0, 2000 - said.length))
      })
      .pipe(
        Effect.catch(({ message }) => Effect.sync(() => void (said += message))),
        Effect.andThen(Effect.suspend(() => Deferred.fail(ready, notPrepared(said))))
      )
    const fiber = yield* Effect.forkDetach(holding)
    const stop = Fiber.interrupt(fiber)
    yield* Deferred.await(ready).pipe(
      Effect.timeoutOrElse({ duration: startTimeoutMs, orElse: () => Effect.fail(notPrepared("it did not start")) }),
      Effect.onError(() => stop)
    )
    return stop
  })
  return Effect.fnUntraced(function* (title, visible) {
    const network = yield* open(title, visible)
    const name = engine.newName()
    const stop = yield* prepare(name, network.relay, network.listeners).pipe(Effect.onError(() => network.close))
    return { ...network, namespace: `container:${name}`, close: Effect.andThen(network.close, stop) }
  })
})

// Nothing of a command runs here, so that root with these two capabilities is no one that it could use.
const holderOptions = (engine: ContainerEngine, name: string, relay: string): ReadonlyArray<string> => [
  "--rm",
  "--init",
  "--pull=never",
  "--log-driver=none",
  `--name=${name}`,
  `--label=${engine.label}`,
  "--network=none",
  // The name server of the command's container is the one of this.
  "--dns=127.0.0.1",
  "--read-only",
  "--user=0:0",
  "--cap-drop=ALL",
  "--cap-add=NET_ADMIN",
  "--cap-add=NET_BIND_SERVICE",
  "--security-opt=no-new-privileges",
  "--memory=67108864",
  "--pids-limit=16",
  mountOption({ kind: "readable", path: relay }),
  "--env=HAFT_NETWORK"
]

/** Keeps the namespace until the container is removed. */
const stay = 'syswrite(STDOUT, "ready\\n"); sleep 3600 while 1'

const notPrepared = (said: string): ToolError<"sandbox_error"> => {
  const line = said.split("\n").find((text) => text !== "" && !text.startsWith("WARNING: ")) ?? "it ended"
  return noNetwork(`no container could prepare one, which takes perl in the image: ${line.slice(0, 300)}`)
}
