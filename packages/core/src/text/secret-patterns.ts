/** Replacement text for a secret. */
export const mark = "[redacted]"

/** A place where a secret stands in a text. */
export interface SecretPattern {
  /** Global, with a group `value`, and a group `lead` for what stands before it and stays. */
  readonly pattern: RegExp
  /**
   * Texts of which one is in every text with a match; most texts have none, and are done with quickly. They begin with a
   * character that is rare: to look for ` --` takes longer than most patterns.
   */
  readonly mentions?: ReadonlyArray<string>
  /** A test that every text with a match passes, where it takes much less time than the pattern. */
  readonly hint?: RegExp
  /** False for a value that only stands where a secret could: a placeholder, a word, a type. */
  readonly accepts?: (value: string, match: SecretMatch) => boolean
}

export interface SecretMatch {
  readonly lead?: string
  readonly value: string
  /** The name that calls the value secret. */
  readonly name?: string
  /** The character before the name. */
  readonly before?: string
  readonly open?: string
  readonly user?: string
}

// The end of a name that calls a value secret, as in DB_PASSWORD, clientSecret or x-api-key.
const secretName = [
  "pass(?:word|wd|phrase|code)",
  "(?<![a-z])(?:pass|pwd)",
  "_auth",
  "secret",
  "token",
  "(?:api|access|secret|private|account|auth|encryption|signing|master)[-_]?key",
  "secret_key_base",
  "credential"
].join("|")

/** Names of fields whose texts are secrets. */
export const secretKey: RegExp = new RegExp(`(?:${secretName}|^pass|authorization|cookie)s?$`, "i")

/** An option whose next argument is a secret, such as `--db-password`. */
export const secretOption: RegExp = new RegExp(`^--?[\\w-]{0,40}(?:${secretName})$`, "i")

// A quotation mark, also one that is escaped because its text stands in another one.
const quote = String.raw`(?:\\{0,3}["'\`]|\\u0022|&quot;)`
const quoted = String.raw`[^"'\`\\\n&]+`
const bare = String.raw`[^\s"'\`&;|()<>,{}\\]+`
const either = String.raw`(?<open>["'])?(?<value>(?<=["'])[^"'\n]+|(?<!["'])${bare})`

// Shapes that are secrets whatever stands around them. Each alternative of the hint starts at a character that is rare in
// texts and looks back, so that the engine can skip from one such character to the next: that takes a tenth of the time of
// trying the shapes at every letter.
const shapes: SecretPattern = {
  mentions: ["-", "_", "I", "J"],
  hint: new RegExp(
    [
      String.raw`-(?:----BEGIN |(?<=[spr]k-)[\w-]{16}|(?<=gl(?:pat|rt|dt|ptt)-|xox[abeprs]-|pypi-))`,
      String.raw`_(?<=gh[pousr]_|github_pat_|npm_|hf_|[sr]k_(?:live|test)_)`,
      String.raw`I(?:(?<=A[KS]I)A|(?<=AI)za)`,
      String.raw`J(?<=eyJ)`
    ].join("|")
  ),
  pattern: new RegExp(
    `(?<value>${[
      String.raw`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`,
      String.raw`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`,
      String.raw`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`,
      String.raw`\bgh[pousr]_[A-Za-z0-9]{20,}`,
      String.raw`\bgithub_pat_[A-Za-z0-9_]{20,}`,
      String.raw`\bgl(?:pat|rt|dt|ptt)-[A-Za-z0-9_-]{16,}`,
      String.raw`\bnpm_[A-Za-z0-9]{30,}`,
      String.raw`\bhf_[A-Za-z0-9]{30,}`,
      String.raw`\bpypi-[A-Za-z0-9_-]{30,}`,
      String.raw`\bxox[abeprs]-[A-Za-z0-9-]{10,}`,
      String.raw`\bA(?:KIA|SIA)[A-Z0-9]{16}\b`,
      String.raw`\bAIza[A-Za-z0-9_-]{30,}`,
      String.raw`(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`
    ].join("|")})`,
    "g"
  )
}

// A name, `=` or `:`, and a value: `PASSWORD=x`, `?token=x`, `"password": "x"`, `pwd = x`, `;AccountKey=x`. A match begins
// at the sign, which the engine finds quickly, and looks back for the name.
const assignment: SecretPattern = {
  mentions: ["=", ":"],
  pattern: new RegExp(
    String.raw`(?<lead>[=:](?<=(?<before>^|[^\w.-])(?<name>[\w.-]{0,60}(?:${secretName}|(?<=[?&][\w-]{0,60})sig(?:nature)?|authorization))` +
      String.raw`(?:${quote}\]?)?[ \t]{0,3}[=:])(?!=)>?[ \t]{0,3}(?:(?<open>${quote})(?:Basic |Token )?)?)(?<value>(?<=${quote}(?:Basic |Token )?)(?!\s)${quoted}|(?<!["'\`;])${bare})`,
    "gim"
  ),
  accepts: (value, match) => !isReference(value) && isAssigned(value, match)
}

// The value after such a name is a secret by its context: an option, a query string, a connection string, a variable
// of the environment. In code and prose it has to look like one.
const isAssigned = (value: string, { name = "", before = "", open, lead = "" }: SecretMatch): boolean => {
  const isSign = lead.startsWith("=") && !/\s/.test(lead)
  if (/(?:Basic|Token) $/i.test(lead)) return true
  if (isSign && (/^(?:--|_auth)/.test(name) || "?&;".includes(before || " "))) return true
  if (isSign && /^[A-Z0-9_]+$/.test(name)) return (open !== undefined || value.length >= 4) && !isExpression(value)
  if (open === undefined) return looksRandom(value) && !isExpression(value)
  return /(?:token|authorization|auth|key|credential|pass|pwd)$/i.test(name)
    ? looksRandom(value)
    : !isLabel(value) && !isVersion(value)
}

const url: SecretPattern = {
  mentions: ["://"],
  hint: /:\/\/[^\s/@]{1,600}@/,
  pattern: /(?<lead>:(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:))(?<value>[^\s/@]{1,256})(?=@)/gi,
  accepts: (value) => !isReference(value)
}

// user:password@tcp(host:port)/database, as some drivers have it
const driverAddress: SecretPattern = {
  mentions: ["@tcp(", "@unix("],
  pattern: /(?<lead>:(?<=[\w.-]{1,60}:))(?<value>[^\s/@:"']{1,256})(?=@(?:tcp|unix)\()/g,
  accepts: (value) => !isReference(value)
}

const header: SecretPattern = {
  mentions: [":"],
  hint: /:(?<=(?:authorization|key|token|cookie):)/i,
  pattern:
    /(?<lead>:(?<=(?:^|[\n"']|-H |--header[ =]|= ?)(?:(?:proxy-)?authorization|x-[a-z-]{0,30}(?:key|token)|(?:set-)?cookie):) ?(?:(?:basic|token|digest|negotiate) )?)(?!(?:basic|bearer)\b)(?<value>[^\s"'`,{}()<>;$[\]]{4,}(?:; ?[^\s"'`;]+)*)/gi,
  accepts: (value, { lead = "" }) =>
    !isReference(value) && (/ (?:basic|token|digest|negotiate) $/i.test(lead) || !isLabel(value))
}

const bearer: SecretPattern = {
  mentions: ["Bearer", "bearer", "BEARER"],
  pattern: /(?<value>\bBearer(?:\s|%20|\+)+[A-Za-z0-9._~+/-]{8,}=*)/gi,
  accepts: (value) => !/^bearer\W+(?:20)?[a-z-]+\.?$/i.test(value) || /^bearer\W+(?:20)?\S{24,}$/i.test(value)
}

const encodedQuery: SecretPattern = {
  mentions: ["%3D", "%3d"],
  pattern: new RegExp(
    String.raw`(?<lead>%3d(?<=(?:%3f|%26)[\w.-]{0,60}(?:${secretName}|sig|signature)%3d))(?<value>(?:[^\s"'%&]|%(?!26|23))+)`,
    "gi"
  )
}

const element: SecretPattern = {
  mentions: ["</"],
  pattern: new RegExp(String.raw`(?<lead>>(?<=<[\w.:-]{0,60}(?:${secretName})>))(?<value>[^<>\n]+)(?=</)`, "gi"),
  accepts: (value, match) => !isReference(value) && isAssigned(value, { ...match, open: '"' })
}

const longOption: SecretPattern = {
  hint: new RegExp(String.raw`-(?<=\s-)-[a-z-]{0,40}?(?:${secretName})[ \t]`, "i"),
  pattern: new RegExp(String.raw`(?<lead>-(?<=(?<![\w-])-)-[\w-]{0,40}(?:${secretName})[ \t](?!-))${either}`, "gi"),
  accepts: (value) => !isReference(value) && !isHelpText(value)
}

// Short options: -u user:password of any program; -p after a user; those of programs that take a password by them.
const userAndPassword: SecretPattern = {
  mentions: ["-u", "-user"],
  pattern: /(?<lead>\s(?:-u|--(?:proxy-)?user)[ =]?["']?(?<user>[^\s:"'$<{/-][^\s:"'/]{0,100}):)(?<value>[^\s"'/:]+)/g,
  accepts: (value, { user }) => !isReference(value) && value !== user && !/^\d+$/.test(value)
}

const passwordAfterUser: SecretPattern = {
  mentions: ["-p", "-P"],
  pattern: new RegExp(
    String.raw`(?<lead>\s(?:-[uU]|--user(?:name)?)[ =]?[^\s-]\S{0,100}(?:\s+--?[\w-]{1,40}(?:[ =][^\s-]\S{0,200})?){0,8}?\s+-[pP]\s?)(?!-)${either}`,
    "g"
  ),
  accepts: (value) => !isReference(value) && !/^[\d.:/-]+$/.test(value)
}

// A match begins at the option and looks back for the program, which is in the same command. That takes less time than to
// look for each of the programs first.
const inCommand = (program: string, option: string): string =>
  String.raw`${option}(?<=\b(?:${program})\b[^\n|;&]{0,300}?\s-${option})`
const knownProgram: SecretPattern = {
  pattern: new RegExp(
    `(?<lead>-(?:${[
      String.raw`${inCommand("mysql(?:dump|admin)?|mariadb(?:-dump|-admin)?", "p")}(?=\S)`,
      String.raw`p(?<=\bsshpass\s+-p)\s?`,
      String.raw`${inCommand("redis-cli", "a")}\s`,
      String.raw`${inCommand("ldap[a-z]+", "w")}\s`,
      String.raw`${inCommand(String.raw`docker\s+login`, "p")}\s`
    ].join("|")})(?!-))${either}`,
    "g"
  ),
  accepts: (value) => !isReference(value)
}

const netrc: SecretPattern = {
  mentions: ["login"],
  pattern: /(?<lead>login(?<=\slogin)\s+\S{1,200}\s+password\s+)(?<value>\S+)/g
}

/** Where secrets stand in texts. Each is looked for in what the ones before it left. */
export const secretPatterns: ReadonlyArray<SecretPattern> = [
  shapes,
  bearer,
  url,
  driverAddress,
  header,
  assignment,
  encodedQuery,
  element,
  longOption,
  userAndPassword,
  passwordAfterUser,
  knownProgram,
  netrc
]

// ${NAME}, $NAME, {{ name }}, <token>, %s, ***, xxx, …, a mark that is there already
const isReference = (value: string): boolean =>
  /^(?:\$[\w({]|\{|<|%[\w(]|\[redacted|\[?[*.•x_-]{3,}|\.\.\.|…|#\{|@\w+@$)/i.test(value) ||
  /\$\{|\{\{|%s|%\(\w+\)s|^\W{1,3}$/.test(value)

// A call, a path of names, a name in camel case: what stands on the right in code.
const isExpression = (value: string): boolean =>
  /^[\w$]+(?:[?!]?\.[a-z_$][\w$]*)+[!?]?$|[[\]]|^[A-Z]?[a-z]*\d*(?:[A-Z][a-z]+\d*)+(?:\$\d+)?$/.test(value)

const labels =
  /^(?:any|bool|boolean|bytes|change ?me|default|dummy|empty|example|fake|false|foo|hidden|no|none|null|number|object|optional|required|sample|str|string|test|text|true|undefined|unknown|value|yes)$/i
const labelWord = /pass|pwd|secret|token|key|credential|auth|login|sign/i

// Words that name or describe a secret, such as the label of a field.
const isLabel = (value: string): boolean =>
  /^[\p{L} _.:!?*'-]+$/u.test(value) &&
  (labels.test(value.trim()) || labelWord.test(value) || /\p{L}{2,} \p{L}{2,} /u.test(value))

// Letters with digits, or a long run of mixed letters. A word, a number and a name with dashes are none.
const looksRandom = (value: string): boolean => {
  if (value.length < 6 || /[^!-~]/.test(value) || isLabel(value) || isVersion(value)) return false
  if (/^[\d.,:_-]+$/.test(value)) return value.length >= 12
  if (/^(?:v?\d+(?:\.\d+)+|0x[\da-f]{1,8}|[a-z]+[-_]?\d{1,2})$/i.test(value)) return /^[a-z]{6,}\d{1,2}$/i.test(value)
  return (
    /\d/.test(value) || (value.length >= 20 && /[a-z]/.test(value) && /[A-Z]/.test(value) && !/[-_ ./:]/.test(value))
  )
}

const isVersion = (value: string): boolean => /^[\^~]?v?\d+(?:\.\d+)+/.test(value)

const isHelpText = (value: string): boolean =>
  /^(?:[A-Z][A-Z_-]*|a|an|and|are|argument|as|at|by|can|flag|for|from|if|in|instead|is|may|must|not|of|on|option|or|parameter|should|so|string|text|that|the|then|to|was|when|which|will|with|you|your)[.:]?$/.test(
    value
  ) || labels.test(value)
