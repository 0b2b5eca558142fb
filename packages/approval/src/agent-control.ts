import { type Call, type Party, reportProgress } from "@haft/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** An agent that is known by name, and whether a person has paused it. */
export interface AgentState {
  readonly name: string
  /** When its last call began, in milliseconds since the epoch. */
  readonly lastCallAt: number
  /** Absent while it may go on. */
  readonly paused?: { readonly at: number; readonly by?: Party }
  /** Messages that wait for its next call. */
  readonly messages: number
}

/**
 * Holds calls of agents that a person has paused, and keeps messages for agents until their next call. Agents are known
 * by the names of their tokens; people who call tools are never held.
 */
export interface AgentControl {
  /** Agents that have called, the latest first. */
  readonly agents: () => ReadonlyArray<AgentState>
  readonly pause: (name: string, by?: Party) => void
  readonly resume: (name: string) => void
  /** Keeps a message for the next call of an agent. The oldest are dropped beyond a hundred. */
  readonly tell: (name: string, message: string) => void
  /** Waits while the agent is paused, then hands over its messages. */
  readonly admit: (call: Call) => Effect.Effect<ReadonlyArray<string>>
}

const mostMessages = 100
const mostAgents = 1_000

interface Agent {
  lastCallAt: number
  paused?: { readonly at: number; readonly by?: Party; readonly over: Deferred.Deferred<void> }
  messages: ReadonlyArray<string>
}

/** A control under which every agent runs, until it is told otherwise. */
export const agentControl = (now: () => number = Date.now): AgentControl => {
  const agents = new Map<string, Agent>()
  const named = (name: string): Agent => {
    const known = agents.get(name)
    if (known !== undefined) return known
    const idle = [...agents].find(([, { paused, messages }]) => paused === undefined && messages.length === 0)
    if (agents.size >= mostAgents && idle !== undefined) agents.delete(idle[0])
    const agent: Agent = { lastCallAt: 0, messages: [] }
    agents.set(name, agent)
    return agent
  }
  const resumed = (agent: Agent): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (agent.paused === undefined) return Effect.void
      const wait = Effect.raceFirst(Deferred.await(agent.paused.over), stillPaused)
      return Effect.andThen(wait, resumed(agent))
    })
  return {
    agents: () =>
      [...agents]
        .map(([name, agent]) => stateOf(name, agent))
        .toSorted((one, other) => other.lastCallAt - one.lastCallAt),
    pause: (name, by) => {
      const agent = named(name)
      agent.paused ??= { at: now(), ...(by !== undefined && { by }), over: Deferred.makeUnsafe<void>() }
    },
    resume: (name) => {
      const agent = named(name)
      const { paused } = agent
      delete agent.paused
      if (paused !== undefined) Deferred.doneUnsafe(paused.over, Effect.void)
    },
    tell: (name, message) => {
      const agent = named(name)
      agent.messages = [...agent.messages, message].slice(-mostMessages)
    },
    admit: ({ caller }) =>
      Effect.suspend(() => {
        if (caller === undefined || caller.role !== "agent") return Effect.succeed([])
        const agent = named(caller.name)
        agent.lastCallAt = now()
        return Effect.map(resumed(agent), () => {
          const { messages } = agent
          agent.messages = []
          return messages
        })
      })
  }
}

const stateOf = (name: string, { lastCallAt, paused, messages }: Agent): AgentState => ({
  name,
  lastCallAt,
  ...(paused !== undefined && { paused: { at: paused.at, ...(paused.by !== undefined && { by: paused.by }) } }),
  messages: messages.length
})

// Clients give up on calls that are silent.
const stillPaused: Effect.Effect<never> = Effect.forever(
  Effect.andThen(reportProgress({ message: "is paused by a person" }), Effect.sleep("10 seconds"))
)
