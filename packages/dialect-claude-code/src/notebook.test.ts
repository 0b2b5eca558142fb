import { expect, it } from "@effect/vitest"
import { editNotebook } from "@haft/fs-tools/operations"

import { cellsOf, languageOf } from "./notebook.ts"

const compact = '{"cells":[{"cell_type":"code","source":"a","x":1.0}],"metadata":{},"nbformat":4}'
const pretty = `{
  "metadata": {"é\\"[": 1e3},
  "cells": [
    {"cell_type": "code", "id": "a", "source": []}
  ]
}
`

it.each([
  ["in one line", compact],
  ["of several lines", pretty]
])("editNotebook inserts, replaces and deletes a cell of a notebook %s, and leaves the rest alone", (_what, text) => {
  const inserted = editNotebook(text, { mode: "insert", index: 1, source: "x\ny", cellType: "markdown", newId: "n" })
  expect(cellsOf(inserted)?.[1]).toEqual({ cell_id: "n", cellType: "markdown", source: "x\ny" })
  const first = editNotebook(text, { mode: "insert", index: 0, source: "1", cellType: "code" })
  expect(cellsOf(first)?.map(({ source }) => source)).toEqual(["1", cellsOf(text)?.[0]?.source])
  expect(editNotebook(inserted, { mode: "delete", index: 1, source: "" })).toBe(text)
  expect(editNotebook(first, { mode: "delete", index: 0, source: "" })).toBe(text)
  const none = editNotebook(text, { mode: "delete", index: 0, source: "" })
  expect(cellsOf(none)).toEqual([])
  expect(cellsOf(editNotebook(none, { mode: "insert", index: 0, source: "z" }))).toMatchObject([{ source: "z" }])
  const replaced = editNotebook(text, { mode: "replace", index: 0, source: "b" })
  expect(cellsOf(replaced)).toMatchObject([{ source: "b", cellType: "code" }])
  expect(replaced.slice(replaced.indexOf('"metadata"'))).toContain(text.includes("1e3") ? "1e3" : '"nbformat":4}')
})

it("cellsOf knows no cells in what is no notebook", () => {
  for (const text of ["", "1", "{}", "null"]) expect(cellsOf(text)).toBe(undefined)
  expect(languageOf("{}")).toBe("python")
})
