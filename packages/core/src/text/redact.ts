const secretKey =
  /(?:pass(?:word|wd|phrase)?|secret|token|(?:api|access|secret|private)[-_]?key|authorization|cookie|credential)s?$/i

// Shapes that are secrets whatever their name: key blocks, provider keys, bearer headers, credentials in URLs.
const secretValue = new RegExp(
  [
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
    String.raw`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`,
    String.raw`\bgh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`\bgithub_pat_[A-Za-z0-9_]{20,}`,
    String.raw`\bglpat-[A-Za-z0-9_-]{16,}`,
    String.raw`\bnpm_[A-Za-z0-9]{30,}`,
    String.raw`\bxox[abprs]-[A-Za-z0-9-]{10,}`,
    String.raw`\bA(?:KIA|SIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[A-Za-z0-9_-]{30,}`,
    String.raw`\bBearer\s+[A-Za-z0-9._~+/-]{8,}=*`,
    String.raw`(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
    String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)`,
    String.raw`(?<=\b[A-Z0-9_]{0,40}(?:PASSWORD|SECRET|TOKEN|(?:API|ACCESS|SECRET|PRIVATE)_?KEY)=)(?:"[^"]+"|'[^']+'|[^\s"';&|]{4,})`
  ].join("|"),
  "g"
)

// A part of each of those shapes. Nearly all texts contain none. Each alternative starts at a character that is rare in
// texts and looks back at what precedes it, so that the engine can skip from one such character to the next: that takes a
// tenth of the time of trying the alternatives at every letter.
const hint = new RegExp(
  [
    String.raw`-(?:----BEGIN |(?<=[spr]k-)[\w-]{16}|(?<=glpat-|xox[abprs]-))`,
    String.raw`_(?<=gh[pousr]_|github_pat_|npm_)`,
    String.raw`I(?:(?<=A[KS]I)A|(?<=AI)za)`,
    String.raw`Bearer\s`,
    String.raw`J(?<=eyJ)`,
    String.raw`://[^\s/@]{1,600}@`,
    String.raw`=(?<=(?:PASSWORD|SECRET|TOKEN|KEY)=)`
  ].join("|")
)

const mark = "[redacted]"

// Secrets by the name that stands before them. A match begins at the sign between the two, which the engine finds
// quickly, and looks back for the name; `lead` is what stays.
const name = String.raw`(?:pass(?:word|wd|phrase)|secret|token|(?:api|access|secret|private)[-_]?key|credential)`
const value = String.raw`(?:"[^"\n]+"|'[^'\n]+'|[^\s"'\`&;|()<>,]+)`
const namedValue = new RegExp(
  [
    // --password=x, ?access_token=x, &sig=x
    String.raw`(?<lead>=(?<=(?:\s--|[?&])[\w.-]{0,40}(?:${name}|(?<=[?&])sig|signature)=))${value}`,
    // "password": "x" in a JSON body, also with its quotes escaped
    String.raw`(?<lead>:(?<=["'][\w.-]{0,40}${name}\\{0,3}["']\s{0,3}:)\s{0,3}\\{0,3}["'])[^"'\\\n]+`,
    // Authorization: Basic x, X-Api-Key: x, Cookie: x
    String.raw`(?<lead>:(?<=(?:^|[\n"'])(?:(?:proxy-)?authorization|x-[a-z-]{0,30}(?:key|token)|(?:set-)?cookie):) ?(?:basic )?)(?!bearer|basic|[$\x60"'{[])[^\s"',]{4,}`
  ].join("|"),
  "gi"
)
const optionHint = new RegExp(String.raw`--[a-z-]{0,40}?${name} `, "i")
const optionValue = new RegExp(String.raw`(?<lead> (?<=\s--[\w-]{0,40}${name} ))(?!-)${value}`, "gi")

// Short options of programs that take a password by them. Of other programs -p means something else.
const programHint = /mysql|mariadb|sshpass|redis-cli|docker login|curl /
const programValue = new RegExp(
  [
    String.raw`(?<lead>\b(?:mysql(?:dump|admin)?|mariadb(?:-dump)?)\b[^\n|;&]{0,300}?\s-p)[^\s"'|;&-]+`,
    String.raw`(?<lead>\bsshpass\s+-p\s?|\bredis-cli\b[^\n|;&]{0,300}?\s-a\s|\bdocker\s+login\b[^\n|;&]{0,300}?\s-p\s)${value}`,
    String.raw`(?<lead>\bcurl\b[^\n|;&]{0,500}?\s(?:-u|--user)[ =]?["']?[^\s:"']{1,100}:)[^\s"']+`
  ].join("|"),
  "g"
)

/** A copy of `value` fit for the record: secrets by name and by shape are replaced, all else is the same. */
export const redact = (value: unknown): unknown => {
  if (typeof value === "string") return redactText(value)
  if (Array.isArray(value)) return value.map(redact)
  if (value === null || typeof value !== "object") return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[key]
    put(copy, key, secretKey.test(key) ? hidden(inner) : redact(inner))
  }
  return copy
}

// Only texts are hidden: a count of tokens is no secret, and fields further down are judged by their own names.
const hidden = (value: unknown): unknown => {
  if (typeof value === "string") return value === "" ? value : mark
  return Array.isArray(value) ? value.map(hidden) : redact(value)
}

// An assignment to `__proto__` would change the prototype instead of adding a field.
const put = (copy: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== "__proto__") copy[key] = value
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Replaces the secrets in plain text, such as a command line. */
export const redactText = (text: string): string => {
  let redacted = hint.test(text) ? text.replaceAll(secretValue, mark) : text
  redacted = redacted.replace(namedValue, keepLead)
  if (optionHint.test(redacted)) redacted = redacted.replace(optionValue, keepLead)
  return programHint.test(redacted) ? redacted.replace(programValue, keepLead) : redacted
}

const keepLead = (...match: ReadonlyArray<unknown>): string => {
  const { lead = "" } = match.at(-1) as { readonly lead?: string }
  return `${lead}${mark}`
}
