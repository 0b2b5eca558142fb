/** Prints the JSON Schemas of the tools in the files given as arguments, for embedded-schemas.ts. */
const printed: Record<string, string> = {}
for (const file of process.argv.slice(2)) {
  const exported: Readonly<Record<string, Readonly<Record<string, unknown>>>> = await import(file)
  const tool = Object.values(exported).find((value) => "inputSchema" in value)
  if (tool === undefined) throw new Error(`${file} is named like a tool and has none`)
  printed[file] = JSON.stringify({ input: tool["inputSchema"], output: tool["outputSchema"] })
}
process.stdout.write(JSON.stringify(printed))
