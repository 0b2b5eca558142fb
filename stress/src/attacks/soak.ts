import { type Attack, atMost, forSeconds, none } from "../attack.ts"
import { settledState } from "../process-state.ts"
import { startServer } from "../running-server.ts"

const mix: ReadonlyArray<(round: number) => readonly [tool: string, params: object]> = [
  () => ["read_file", { path: "a.txt" }],
  (round) => ["write_file", { path: `made/${round % 20}.txt`, content: `round ${round}\n` }],
  () => ["list_dir", { path: ".", depth: 2 }],
  () => ["search_text", { query: "round" }],
  () => ["edit_file", { path: "a.txt", edits: [{ find: "one", replace: "one" }] }],
  () => ["run_command", { command: "echo hello; echo there >&2" }],
  () => ["open_terminal", { command: "echo up" }],
  () => ["no_such_tool", {}],
  (round) => ["delete_path", { path: `made/${(round + 7) % 20}.txt` }]
]

/** Mixed load through the server, and what it holds on to afterwards. */
export const attack: Attack = async function* ({ seconds }) {
  const server = await startServer({ approval: "all" })
  const unanswered: Array<string> = []
  const play = async (some: number): Promise<number> =>
    forSeconds(some, async (round) => {
      const [tool, params] = (mix[round % mix.length] ?? mix[0])?.(round) ?? ["", {}]
      const answers = await Promise.all(Array.from({ length: 4 }, () => server.call(tool, params)))
      for (const { status, text } of answers)
        if (status !== 200) unanswered.push(`${tool}: ${status} ${text.slice(0, 200)}`)
    })
  await play(Math.max(3, seconds / 3))
  const before = await settledState()
  const rounds = await play(seconds)
  const after = await settledState()
  const tried = `${rounds * 4} calls`
  yield none("calls that the server does not answer", tried, unanswered)
  yield atMost("descriptors more than at the beginning", tried, after.descriptors - before.descriptors, 2)
  yield atMost("child processes more than at the beginning", tried, after.children - before.children, 0)
  yield atMost("megabytes more than at the beginning", tried, after.rssMegabytes - before.rssMegabytes, 64)
  await server.stop()
}
