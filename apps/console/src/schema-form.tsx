import { type ReactNode, type SubmitEvent, useId, useMemo, useRef, useState } from "react"

import { fieldsOf, readFields, type SchemaField, textsOf } from "./schema-fields.ts"
import type { JsonSchema } from "./wire.ts"

export type FieldValues = Readonly<Record<string, unknown>>

interface SchemaFormProps {
  readonly schema: JsonSchema
  readonly initial?: FieldValues
  readonly onSubmit: (values: FieldValues) => void
  /** The buttons; `read` gives the values as they stand, if they are right. */
  readonly children: (read: () => FieldValues | undefined) => ReactNode
}

const noValues: FieldValues = {}

/** A form for the arguments of a tool, made from the tool's own schema. */
export const SchemaForm = ({ schema, initial = noValues, onSubmit, children }: SchemaFormProps) => {
  const fields = useMemo(() => fieldsOf(schema), [schema])
  const [texts, setTexts] = useState(() => textsOf(fields, initial))
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const form = useRef<HTMLFormElement>(null)

  const read = (): FieldValues | undefined => {
    const outcome = readFields(fields, texts, initial)
    setProblems("problems" in outcome ? outcome.problems : {})
    if ("values" in outcome) return outcome.values
    const [first] = Object.keys(outcome.problems)
    form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first ?? "")}"]`)?.focus()
    return undefined
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const values = read()
    if (values !== undefined) onSubmit(values)
  }

  return (
    <form ref={form} className="fields" onSubmit={submit} noValidate>
      {fields.length === 0 && <p className="quiet">This tool takes no arguments.</p>}
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={texts[field.name] ?? ""}
          problem={problems[field.name]}
          onChange={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <div className="buttons">{children(read)}</div>
    </form>
  )
}

interface FieldProps {
  readonly field: SchemaField
  readonly text: string
  readonly problem: string | undefined
  readonly onChange: (text: string) => void
}

const Field = ({ field, text, problem, onChange }: FieldProps) => {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>
        <code>{field.name}</code>
        {field.isRequired && <span className="quiet"> needed</span>}
      </label>
      <Control id={id} field={field} text={text} problem={problem} onChange={onChange} />
      <p id={`${id}-help`} className="quiet">
        {field.description}
        {field.kind === "lines" && " (one on each line)"}
        {field.kind === "json" && " (JSON)"}
      </p>
      {problem !== undefined && (
        <p id={`${id}-problem`} className="problem">
          {problem}
        </p>
      )}
    </div>
  )
}

const Control = ({ id, field, text, problem, onChange }: FieldProps & { readonly id: string }) => {
  const shared = {
    id,
    name: field.name,
    value: text,
    required: field.isRequired,
    "aria-invalid": problem !== undefined,
    "aria-describedby": problem === undefined ? `${id}-help` : `${id}-help ${id}-problem`,
    onChange: (event: { readonly target: { readonly value: string } }) => onChange(event.target.value)
  }
  const fallback = field.fallback === undefined ? "" : fallbackText(field.fallback)
  switch (field.kind) {
    case "choice":
    case "boolean": {
      const choices = field.kind === "boolean" ? ["true", "false"] : field.choices
      return (
        <select {...shared}>
          {(!field.isRequired || text === "") && (
            <option value="">{fallback === "" ? "—" : `${fallback} (as usual)`}</option>
          )}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )
    }
    case "long_text":
    case "json":
    case "lines":
      return (
        <textarea
          {...shared}
          rows={Math.min(14, Math.max(2, text.split("\n").length + 1))}
          spellCheck={false}
          placeholder={fallback}
        />
      )
    case "number":
      return <input {...shared} inputMode="decimal" placeholder={fallback} autoComplete="off" />
    case "text":
      return <input {...shared} placeholder={fallback} autoComplete="off" spellCheck={false} />
  }
}

const fallbackText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
