// Rules of style are few; most of this file is the fences: which folder may import what, and why.
// `scripts/fences.test.ts` runs every fence. Nothing is imported here at run time, so that the
// test can use this file from another directory.
import type { OxlintConfig } from "oxlint"

type Fence = { message: string } & ({ name: string } | { regex: string } | { group: Array<string> })
type Override = NonNullable<OxlintConfig["overrides"]>[number]

const nothingBut = (...allowed: Array<string>) => [
  "*",
  "!./**",
  "!../**",
  ...allowed.flatMap((name) => [`!${name}`, `!${name}/**`])
]
const noneOfOurs = (...allowed: Array<string>) => [
  "@haft/**",
  "haft",
  "haft/**",
  "!./**",
  "!../**",
  ...allowed.flatMap((name) => [`!${name}`, `!${name}/**`])
]

const machine: Fence = {
  regex: "^(node:)?(fs|child_process|sqlite)(/|$)|^(execa|fast-glob)(/|$)",
  message:
    "Only packages/node opens files and starts processes. Ask the Workspace, Processes or Sandbox service, so that containment, approval and the journal see it."
}
const vendors: Fence = {
  regex: "^(@modelcontextprotocol|@anthropic-ai|@openai|@ai-sdk)/|^(openai|ai)(/|$)|^effect/ai(/|$)",
  message: "Only packages/adapters knows a vendor, so that a change of theirs touches one file of ours."
}
const database: Fence = {
  regex: "^pg(/|$)|^effect/(cluster|sql)(/|$)|^@effect/platform-node(/|$)",
  message: "Only packages/cluster knows the database, so that a host alone loads none of it."
}
const barrel: Fence = {
  name: "effect",
  message: "Import the module, as in `effect/Effect`: the whole of effect takes four times as long to load."
}
const otherSources: Fence = {
  regex: "^\\.\\.?/(.*/)?src/",
  message: "Import the other package by its name: its index.ts is what it promises, its files are not."
}
const publicOnly: Fence = {
  regex: "^(?:@haft/[\\w-]+|haft)/internal$",
  message: "Tools and dialects are written with public names alone, as those of other people are."
}
const coreOnly: Fence = {
  group: nothingBut("effect", "zod"),
  message: "core imports effect and zod and nothing else: it runs wherever JavaScript runs."
}
const dialectsOnly: Fence = {
  group: nothingBut("@haft/core", "effect", "zod"),
  message: "A dialect is an envelope and error names: core, effect and zod are all it needs."
}
const onCoreAlone: Fence = {
  group: noneOfOurs("@haft/core"),
  message: "Packages beside this one are put together by a host; here only @haft/core is known."
}
const toolsApart: Fence = {
  group: noneOfOurs("@haft/core", "@haft/dialects"),
  message:
    "A tool package knows core and dialects. It never imports another tool package, and the machine, the approval and the adapters are the host's choice."
}
const toolTestsApart: Fence = {
  group: noneOfOurs("@haft/core", "@haft/dialects", "@haft/node", "@haft/testing"),
  message: "Tests of a tool package run without the other tool packages, as its users do."
}
const dialectPackages: Fence = {
  group: noneOfOurs("@haft/core", "@haft/*/operations"),
  message:
    "A dialect package stands on what anybody can use: @haft/core and the operations of the tool packages, never their tools or files."
}
const throughTheFacade: Fence = {
  group: noneOfOurs("haft"),
  message: "An app reads configuration and asks `haft` for a host; what it needs from below, `haft` exports."
}
const serverBesides: Fence = {
  group: noneOfOurs("haft", "@haft/server", "@haft/core/visible-text"),
  message:
    "The command asks `haft` for a host, and @haft/server for a server; what it needs from below, `haft` exports."
}

const aloneInTheBrowser: Fence = {
  group: noneOfOurs("@haft/core/visible-text"),
  message:
    "The console runs in a browser and knows the server's HTTP interface, nothing else of ours but the escaping of what people read."
}

const fence = (files: Array<string>, fences: ReadonlyArray<Fence>): Override => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        paths: fences.filter((one) => "name" in one),
        // Groups come last, because what one allows with `!` is allowed by all patterns after it.
        patterns: [...fences.filter((one) => "regex" in one), ...fences.filter((one) => "group" in one)]
      }
    ]
  }
})

const notHere = (name: string) => ({ name, message: "core and dialects run without Node: no Node global here." })

export default {
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    eqeqeq: "error",
    "no-var": "error",
    "prefer-const": "error",
    "no-console": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/ban-ts-comment": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "import/no-cycle": "error",
    "vitest/no-focused-tests": "error",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],

    // A test without an assertion can't fail. These functions count as assertions: they wait for something in a page,
    // or check it in a helper.
    "vitest/expect-expect": [
      "error",
      { assertFunctionNames: ["expect", "expectTypeOf", "fc.assert", "**.waitFor", "versionAfterRecovery"] }
    ],

    // The compiler checks this, with better messages.
    "import/namespace": "off",
    // Names are shadowed on purpose: a value keeps its name from one step of a pipeline to the next.
    "no-shadow": "off",
    // `_tag`, `_url` and the like are names of Effect and Node.
    "no-underscore-dangle": "off",
    // A loop with await is sequential on purpose; Effect or Promise.all is used for concurrency.
    "no-await-in-loop": "off",
    // Small helpers are defined where they are used, and functions are passed by name.
    "unicorn/consistent-function-scoping": "off",
    "unicorn/no-array-callback-reference": "off",
    "unicorn/no-array-for-each": "off",
    // A list of a few names is as fast as a set, and easier to read.
    "unicorn/prefer-set-has": "off",
    // ToolError carries its code in a type parameter.
    "typescript/no-unnecessary-type-parameters": "off",
    // Parsed values get their type by an assertion where they have been checked.
    "typescript/no-unsafe-type-assertion": "off",
    // The rule does not know `it.effect`, or `expect` inside an Effect.
    "vitest/no-standalone-expect": "off",
    // scripts/count-reporter.ts lists skipped tests with their reason, and fails them in CI.
    "vitest/no-disabled-tests": "off"
  },
  overrides: [
    fence(["packages/*/src/**"], [machine, vendors, database, barrel, otherSources]),
    fence(["packages/cluster/src/**"], [onCoreAlone, vendors, barrel, otherSources]),
    fence(["packages/core/src/**"], [coreOnly, database, barrel, vendors, otherSources]),
    fence(["packages/dialects/src/**"], [dialectsOnly, publicOnly, database, barrel, vendors, otherSources]),
    fence(["packages/node/src/**"], [onCoreAlone, vendors, database, barrel, otherSources]),
    fence(["packages/approval/src/**"], [onCoreAlone, machine, vendors, database, barrel, otherSources]),
    fence(["packages/adapters/src/**"], [onCoreAlone, machine, database, barrel, otherSources]),
    fence(["packages/testing/src/**"], [onCoreAlone, vendors, database, barrel, otherSources]),
    fence(["packages/*-tools/src/**"], [toolsApart, publicOnly, machine, vendors, database, barrel, otherSources]),
    fence(
      ["packages/dialect-*/src/**"],
      [dialectPackages, publicOnly, machine, vendors, database, barrel, otherSources]
    ),
    fence(["apps/*/src/**"], [throughTheFacade, machine, vendors, database, barrel, otherSources]),
    fence(["apps/cli/src/**"], [serverBesides, machine, vendors, database, barrel, otherSources]),
    fence(["apps/console/src/**"], [aloneInTheBrowser, machine, vendors, database, barrel, otherSources]),
    {
      files: ["apps/console/src/**"],
      plugins: ["react", "jsx-a11y"],
      rules: {
        "react/rules-of-hooks": "error",
        "react/exhaustive-deps": "error",
        // An effect may depend on a value that it does not use, to run again when that changes.
        "react/exhaustive-effect-dependencies": "off",
        // An svg has no tag that makes it an image, so it needs the role.
        "jsx-a11y/prefer-tag-over-role": "off",
        // The compiler adds the import.
        "react/react-in-jsx-scope": "off",
        // A style sheet is imported for its effect.
        "import/no-unassigned-import": ["error", { allow: ["**/*.css"] }]
      }
    },
    {
      files: ["packages/core/src/**", "packages/dialects/src/**"],
      rules: {
        "no-restricted-globals": [
          "error",
          ...["process", "Buffer", "global", "require", "__dirname", "__filename", "setImmediate"].map(notHere)
        ]
      }
    },
    {
      files: ["**/*.test.ts", "**/test/**"],
      rules: {
        "no-restricted-imports": "off",
        "no-restricted-globals": "off",
        "no-console": "off",
        "typescript/no-non-null-assertion": "off"
      }
    },
    fence(["packages/*-tools/**/*.test.ts", "packages/*-tools/test/**"], [toolTestsApart]),
    {
      files: ["scripts/**", "bench/**", "stress/**", "examples/**"],
      rules: { "no-console": "off" }
    }
  ],
  ignorePatterns: ["**/dist/**", "**/coverage/**", ".toolchain/**", "packages/haft/cli/**", "contracts/**"]
} satisfies OxlintConfig
