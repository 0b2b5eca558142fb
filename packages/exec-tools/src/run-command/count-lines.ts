/** Lines of a text; a last line without its newline counts too. */
export const countLines = (text: string): number =>
  text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0)
