import { expect, it } from "vitest"

import { eventsIn } from "./asciicast.ts"

it("what a recording shows is read, and what is unknown in it or cut short is left out", () => {
  const lines = [
    '{"version":2,"width":80,"height":24}',
    '[0.1,"o","häft\\r\\n"]',
    '[0.2,"r","100x30"]',
    '[0.3,"x","?"]',
    "broken",
    '[0.4,"o","half'
  ]
  expect(eventsIn(lines.join("\n"))).toEqual([
    { type: "size", cols: 80, rows: 24 },
    { type: "output", data: "häft\r\n" },
    { type: "size", cols: 100, rows: 30 }
  ])
})
