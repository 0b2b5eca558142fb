import { touchFacts } from "../../calls/describe-call.ts"
import { DiffView } from "../../diff/diff-view.tsx"
import { Facts, Problem, RiskBadge, Section } from "../../parts.tsx"
import type { Preview } from "../../wire.ts"

/** Preview of a call: its effects, and the decision that the rules would make. */
export const PreviewOutcome = ({ preview }: { readonly preview: Preview | undefined }) => (
  <>
    <Problem>{preview?.error?.message}</Problem>
    {preview?.preview !== undefined && (
      <Section title={verdicts[preview.preview.verdict.decision]}>
        <p>
          {preview.preview.verdict.reason} <RiskBadge risk={preview.preview.facts.risk} />
        </p>
        <Facts facts={touchFacts(preview.preview.facts)} />
        {preview.preview.diff !== undefined && <DiffView text={preview.preview.diff} />}
      </Section>
    )}
  </>
)

const verdicts = {
  allow: "Allowed without asking",
  ask: "Needs a person",
  deny: "Refused by the rules"
} as const
