import { useId } from "react"

import { entriesIn, type SchemaField, textOfEntries, textsOf, withEntryText } from "./schema-fields.ts"

interface FieldProps {
  readonly field: SchemaField
  readonly text: string
  readonly problem: string | undefined
  readonly onChange: (text: string) => void
}

/** One argument: its name, what it may be, and what is wrong with it. */
export const Field = ({ field, text, problem, onChange }: FieldProps) => {
  const id = useId()
  const entries = field.kind === "list" ? entriesIn(field, text) : undefined
  if (entries !== undefined) return <List field={field} entries={entries} problem={problem} onChange={onChange} />
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

interface ListProps extends Pick<FieldProps, "field" | "problem" | "onChange"> {
  readonly entries: NonNullable<ReturnType<typeof entriesIn>>
}

/** A list of objects: the fields of every entry, one entry below the other. */
const List = ({ field, entries, problem, onChange }: ListProps) => (
  <fieldset className="list">
    <legend>
      <code>{field.name}</code>
      {field.isRequired && <span className="quiet"> needed</span>}
    </legend>
    <p className="quiet">{field.description}</p>
    {entries.map((entry, at) => (
      // Entries have no identity but their index.
      // oxlint-disable-next-line react/no-array-index-key
      <fieldset key={at} className="entry">
        <legend className="quiet">
          {field.name} {at + 1}
        </legend>
        {field.entryFields.map((inner) => (
          <Field
            key={inner.name}
            field={inner}
            text={textsOf(field.entryFields, entry)[inner.name] ?? ""}
            problem={undefined}
            onChange={(text) => onChange(withEntryText(entries, { at, field: inner, text }))}
          />
        ))}
        <div className="buttons">
          <button type="button" onClick={() => onChange(textOfEntries(entries.toSpliced(at, 1)))}>
            Remove<span className="for-readers"> {`${field.name} ${at + 1}`}</span>
          </button>
        </div>
      </fieldset>
    ))}
    <div className="buttons">
      <button type="button" name={field.name} onClick={() => onChange(textOfEntries([...entries, {}]))}>
        Add<span className="for-readers"> to {field.name}</span>
      </button>
    </div>
    {problem !== undefined && (
      <p className="problem" role="alert">
        {problem}
      </p>
    )}
  </fieldset>
)
