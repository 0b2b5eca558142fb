import { setImmediate as nextTurn } from "node:timers/promises"

import { expect, it } from "vitest"

import { eventStream } from "./event-stream.ts"

it("lets others have their turn between the pieces of many streams", async () => {
  const pieces = { all: 20, taken: 0 }
  const workFor10Ms = (): void => {
    for (const until = performance.now() + 10; performance.now() < until;);
  }
  const streams = Array.from({ length: pieces.all }, () =>
    eventStream({
      subscribe: () => () => {},
      next: () => {
        workFor10Ms()
        pieces.taken += 1
        return undefined
      }
    })
  )
  const ended = Promise.all(streams.map(({ body }) => new Response(body).text()))
  let turns = 0
  for (; pieces.taken < pieces.all; turns++) await nextTurn()
  expect(turns).toBeGreaterThan(pieces.all / 2)
  expect(new Set(await ended)).toEqual(new Set(["retry: 1000\n\n"]))
})
