import { describe, expect, it } from "vitest"

import { importRules } from "./import-rules.ts"

const said = (text: string) => {
  const { source, rules, skipped } = importRules(text)
  return {
    source,
    rules: rules.map(({ decision, operation, touches }) => [decision, operation ?? "any", touches]),
    skipped: skipped.map(({ setting, why }) => `${setting}: ${why}`)
  }
}

describe("importing rules", () => {
  it("reads the permissions of Claude Code", () => {
    const permissions = {
      allow: ["Bash(npm run test:*)", "Bash(git diff *)", "Bash(ls)", "Bash", "Read(**)", "Edit(src/**)", "Edit"],
      ask: ["Bash(git push:*)", "WebFetch"],
      deny: [
        "Read(./.env)",
        "Read(secrets/**)",
        "Read(~/.ssh/**)",
        "Write(*.lock)",
        "Bash",
        "WebFetch(domain:x.example)"
      ],
      defaultMode: "acceptEdits",
      additionalDirectories: ["../docs"]
    }
    const more = ["mcp__github__get", "Bash(git * main)", "Bash(a; b)"]
    expect(said(JSON.stringify({ permissions: { ...permissions, allow: [...permissions.allow, ...more] } }))).toEqual({
      source: "claude-code",
      rules: [
        ["allow", "run-command", { runs: "npm run test **" }],
        ["allow", "run-command", { runs: "git diff **" }],
        ["allow", "run-command", { runs: "ls" }],
        ["allow", "any", { writes: "src/**" }],
        ["ask", "any", { runs: "git push **" }],
        ["ask", "fetch-url", undefined],
        ["deny", "any", { reads: ".env" }],
        ["deny", "any", { reads: "secrets/**" }],
        ["deny", "any", { writes: "**/*.lock" }],
        ["deny", ["run-command", "run-code", "shell", "start-process", "open-terminal"], undefined],
        ["deny", "any", { fetches: "x.example" }]
      ],
      skipped: [
        "allow Bash: it would allow every command; see mode auto",
        "allow Read(**): haft does not ask before it reads",
        'allow Edit: set "mode": "accept-edits" in the configuration instead',
        "allow mcp__github__get: haft has no tool like mcp__github__get",
        "allow Bash(git * main): a * inside a command matches across words there, and not here",
        "allow Bash(a; b): only simple commands without quotes can be carried over",
        "deny Read(~/.ssh/**): it is about a path outside the workspace",
        'defaultMode acceptEdits: set "mode": "accept-edits" in the configuration instead',
        "additionalDirectories ../docs: a workspace has its directories in the configuration, as roots"
      ]
    })
  })

  it("reads the prefix rules of Codex", () => {
    const text = `
# prefix_rule(pattern = ["no"])
prefix_rule(
    pattern = ["gh", ["pr", "issue"], "view"],  # either
    decision = "prompt",
    justification = "look (first)",
    match = ["gh pr view 1"],
)
prefix_rule(pattern=['cargo', 'test',])
prefix_rule(pattern = ["rm"], decision = "forbidden")
prefix_rule(pattern = ["echo", "a b"], decision = "allow")
prefix_rule(pattern = words, decision = "allow")
network_rule(host = "api.example", protocol = "https", decision = "allow")
`
    expect(said(text)).toEqual({
      source: "codex",
      rules: [
        ["ask", "any", { runs: "gh pr view **" }],
        ["ask", "any", { runs: "gh issue view **" }],
        ["allow", "run-command", { runs: "cargo test **" }],
        ["deny", "any", { runs: "rm **" }]
      ],
      skipped: [
        'prefix_rule(pattern = ["echo", "a b"], decision = "allow"): a word with spaces or * can\'t be written in a rule',
        'prefix_rule(pattern = words, decision = "allow"): its pattern can\'t be read',
        'network_rule(host = "api.example", protocol = "https", decision = "allow"): haft has nothing like network_rule'
      ]
    })
  })

  it("reads the settings of VS Code, with comments and trailing commas", () => {
    const text = `{
  // what the agent may do
  "editor.tabSize": 2,
  "chat.tools.terminal.autoApprove": {
    "git status": true, /* reads */
    "rm": false,
    "/^git (show|log)\\\\b/": true,
    "npm test": { "approve": true, "matchCommandLine": true },
    "cd": null,
    "x": "maybe",
  },
  "chat.tools.edits.autoApprove": { "**/*": true, "**/package.json": false, "//etc/**": true },
  "chat.tools.urls.autoApprove": { "https://docs.example/": true, "*.evil.example": false },
  "chat.tools.global.autoApprove": true,
}`
    expect(said(text)).toEqual({
      source: "vs-code",
      rules: [
        ["allow", "run-command", { runs: "git status **" }],
        ["ask", "any", { runs: "rm **" }],
        ["allow", "any", { writes: "**/*" }],
        ["ask", "any", { writes: "**/package.json" }],
        ["allow", "any", { fetches: "https://docs.example" }],
        ["ask", "any", { fetches: "*.evil.example" }]
      ],
      skipped: [
        "chat.tools.terminal.autoApprove /^git (show|log)\\b/: expressions over command lines can't be carried over",
        "chat.tools.terminal.autoApprove npm test: it is about the whole command line, which haft judges by its parts",
        "chat.tools.terminal.autoApprove x: its value can't be read",
        "chat.tools.edits.autoApprove //etc/**: it is about a path outside the workspace",
        "chat.tools.global.autoApprove: it would allow everything; see the setting `approval`"
      ]
    })
  })

  it("gives a rule the same id each time, and says where it is from", () => {
    const text = '{"permissions":{"allow":["Bash(npm test)"]}}'
    expect(importRules(text).rules).toEqual(importRules(text).rules)
    expect(importRules(text).rules).toMatchObject([
      { id: expect.stringMatching(/^claude-code-[\da-f]{8}$/), note: "from claude-code: allow Bash(npm test)" }
    ])
  })

  it.each(["", "nonsense", "{}", '{"permissions":5}', "[]"])("refuses %j", (text) => {
    expect(() => importRules(text)).toThrow("not settings that can be imported")
  })

  it("refuses settings of another program than it is told", () => {
    expect(() => importRules('{"permissions":{}}', "vs-code")).toThrow("not settings that can be imported")
    expect(importRules("", "codex")).toEqual({ source: "codex", rules: [], skipped: [] })
  })
})
