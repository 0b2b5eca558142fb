import { type ReactNode, type SubmitEvent, useEffect, useId, useMemo, useRef, useState } from "react"

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
    return "values" in outcome ? outcome.values : undefined
  }
  useEffect(() => {
    const [first] = Object.keys(problems)
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`)?.focus()
  }, [problems])
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
  if (field.kind === "choice" || field.kind === "boolean") {
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
  if (field.kind === "text" || field.kind === "number") {
    const inputMode = field.kind === "number" ? "decimal" : "text"
    return <input {...shared} inputMode={inputMode} placeholder={fallback} autoComplete="off" spellCheck={false} />
  }
  const rows = Math.min(14, Math.max(2, text.split("\n").length + 1))
  return <textarea {...shared} rows={rows} spellCheck={false} placeholder={fallback} />
}

const fallbackText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
