// Operations of this package, unaware of any contract: for tools in a dialect of your own. A plugin that has such tools
// has `terminals(config)` in its layer, and each of them says in its touches what it runs or types.
export { closeTerminal } from "./close-terminal/close-terminal.ts"
export { type ListedTerminal, listTerminals } from "./list-terminals/list-terminals.ts"
export { type Opening, openTerminal } from "./open-terminal/open-terminal.ts"
export type { WindowSize } from "./terminals/native.ts"
export type { TerminalReading, TerminalReport } from "./terminals/report.ts"
export { Terminals, terminals, terminalsConfig } from "./terminals/terminals.ts"
export { type Key, keyNames } from "./write-terminal/keys.ts"
export {
  type Typing,
  typesInto,
  withoutHiddenText,
  writeTerminal,
  type Writing
} from "./write-terminal/write-terminal.ts"
