const help = `haft: the tool layer for AI agents

Usage: haft <command> [options]

  --version   print the version
  --help      print this text
`

const [command] = process.argv.slice(2)
if (command === undefined || command === "--help" || command === "help") {
  process.stdout.write(help)
} else {
  process.stderr.write(`haft: unknown command ${command}\n\n${help}`)
  process.exitCode = 2
}

export {}
