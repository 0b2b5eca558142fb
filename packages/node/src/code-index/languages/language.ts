import { basename, extname } from "node:path"

/** How definitions are found in the syntax tree of one language. */
export interface LanguageDefinition {
  /** File name of the grammar, without `tree-sitter-` and `.wasm`. */
  readonly grammar: string
  /** Node types that define something, with the kind of symbol. */
  readonly definitions: Readonly<Record<string, string>>
  /** Node types that may hold definitions without being one. */
  readonly wrappers: ReadonlyArray<string>
}

const typescript: LanguageDefinition = {
  grammar: "typescript",
  definitions: {
    function_declaration: "function",
    generator_function_declaration: "function",
    function_signature: "function",
    class_declaration: "class",
    abstract_class_declaration: "class",
    method_definition: "method",
    method_signature: "method",
    abstract_method_signature: "method",
    interface_declaration: "interface",
    type_alias_declaration: "type",
    enum_declaration: "enum",
    internal_module: "module",
    module: "module",
    variable_declarator: "constant"
  },
  wrappers: [
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "ambient_declaration",
    "expression_statement",
    "class_body",
    "interface_body",
    "statement_block",
    "object",
    "satisfies_expression",
    "as_expression"
  ]
}

const cpp: LanguageDefinition = {
  grammar: "cpp",
  definitions: {
    function_definition: "function",
    declaration: "function",
    field_declaration: "method",
    class_specifier: "class",
    struct_specifier: "class",
    union_specifier: "class",
    enum_specifier: "enum",
    type_definition: "type",
    alias_declaration: "type",
    namespace_definition: "module",
    concept_definition: "type",
    preproc_function_def: "macro"
  },
  wrappers: [
    "template_declaration",
    "linkage_specification",
    "declaration_list",
    "field_declaration_list",
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif"
  ]
}

/** Languages that have a grammar, by the name that symbols and figures carry. */
const languages = {
  typescript,
  tsx: { ...typescript, grammar: "tsx" },
  javascript: { ...typescript, grammar: "javascript" },
  python: {
    grammar: "python",
    definitions: { class_definition: "class", function_definition: "function", assignment: "constant" },
    wrappers: ["decorated_definition", "expression_statement", "block", "if_statement", "try_statement"]
  },
  go: {
    grammar: "go",
    definitions: {
      function_declaration: "function",
      method_declaration: "method",
      type_spec: "type",
      type_alias: "type",
      const_spec: "constant",
      var_spec: "constant"
    },
    wrappers: ["type_declaration", "const_declaration", "var_declaration", "var_spec_list"]
  },
  rust: {
    grammar: "rust",
    definitions: {
      function_item: "function",
      function_signature_item: "function",
      struct_item: "class",
      union_item: "class",
      enum_item: "enum",
      trait_item: "interface",
      impl_item: "class",
      mod_item: "module",
      type_item: "type",
      const_item: "constant",
      static_item: "constant",
      macro_definition: "macro"
    },
    wrappers: ["declaration_list"]
  },
  java: {
    grammar: "java",
    definitions: {
      class_declaration: "class",
      record_declaration: "class",
      interface_declaration: "interface",
      annotation_type_declaration: "interface",
      enum_declaration: "enum",
      method_declaration: "method",
      constructor_declaration: "method"
    },
    wrappers: ["class_body", "interface_body", "enum_body", "enum_body_declarations"]
  },
  // The C++ grammar reads C as well, and is there already.
  c: cpp,
  cpp,
  csharp: {
    grammar: "c-sharp",
    definitions: {
      class_declaration: "class",
      struct_declaration: "class",
      record_declaration: "class",
      interface_declaration: "interface",
      enum_declaration: "enum",
      delegate_declaration: "type",
      method_declaration: "method",
      constructor_declaration: "method",
      property_declaration: "constant",
      namespace_declaration: "module"
    },
    wrappers: ["declaration_list", "file_scoped_namespace_declaration"]
  },
  ruby: {
    grammar: "ruby",
    definitions: { module: "module", class: "class", method: "method", singleton_method: "method" },
    wrappers: ["body_statement", "singleton_class"]
  },
  php: {
    grammar: "php",
    definitions: {
      class_declaration: "class",
      interface_declaration: "interface",
      trait_declaration: "interface",
      enum_declaration: "enum",
      function_definition: "function",
      method_declaration: "method"
    },
    wrappers: ["declaration_list", "enum_declaration_list", "namespace_definition", "compound_statement"]
  },
  bash: { grammar: "bash", definitions: { function_definition: "function" }, wrappers: ["if_statement"] }
} satisfies Record<string, LanguageDefinition>

export type LanguageName = keyof typeof languages

export const languageNamed = (name: LanguageName): LanguageDefinition => languages[name]

const extensions: Readonly<Record<string, LanguageName>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  c: "c",
  h: "cpp",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  hh: "cpp",
  hpp: "cpp",
  hxx: "cpp",
  cs: "csharp",
  rb: "ruby",
  rake: "ruby",
  php: "php",
  sh: "bash",
  bash: "bash",
  zsh: "bash"
}

/** The language of a file by its name; undefined where there is no grammar for it. */
export const languageOf = (path: string): LanguageName | "markdown" | undefined => {
  const extension = extname(path).slice(1).toLowerCase()
  if (extension === "md" || extension === "markdown" || extension === "mdx") return "markdown"
  if (["Rakefile", "Gemfile"].includes(basename(path))) return "ruby"
  return Object.hasOwn(extensions, extension) ? extensions[extension] : undefined
}
