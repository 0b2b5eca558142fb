import { type ReactNode, type SubmitEvent, useEffect, useMemo, useRef, useState } from "react"

import type { JsonSchema } from "../wire.ts"
import { Field } from "./schema-field.tsx"
import { fieldsOf, readFields, textsOf } from "./schema-fields.ts"

export type FieldValues = Readonly<Record<string, unknown>>

interface SchemaFormProps {
  readonly schema: JsonSchema
  readonly initial?: FieldValues
  readonly onSubmit: (values: FieldValues) => void
  /** The buttons. `read` returns the current values; if some are wrong it says so in the form and returns undefined. */
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
