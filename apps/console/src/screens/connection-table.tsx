import { visibleText } from "@haft/core/visible-text"

import { connectionsByHost } from "../calls/connections.ts"
import { ScrollBox, Section } from "../parts.tsx"
import type { JournalEvent } from "../wire.ts"

/** Hosts that were reached and refused, with what decided; nothing where there were none. */
export const ConnectionTable = ({
  title = "Connections",
  events
}: {
  readonly title?: string
  readonly events: ReadonlyArray<JournalEvent>
}) => {
  if (events.length === 0) return null
  return (
    <Section title={title}>
      <ScrollBox label="Connections by host">
        <table>
          <thead>
            <tr>
              {["Host", "Opened", "Refused", "Sent", "Received", "Decided by"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {connectionsByHost(events).map(({ host, port, opened, open, refused, allowedBy, reasons, ...bytes }) => (
              <tr key={`${host} ${port}`}>
                <th scope="row">{visibleText(`${host}:${port}`)}</th>
                <td>
                  {opened.toLocaleString()}
                  {open > 0 && ` (${open.toLocaleString()} open)`}
                </td>
                <td>{refused.toLocaleString()}</td>
                <td>{bytesText(bytes.bytesSent)}</td>
                <td>{bytesText(bytes.bytesReceived)}</td>
                <td>{visibleText([...allowedBy, ...reasons].join("; "))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Section>
  )
}

const bytesText = (count: number): string => {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  return `${Number((count / 1024 ** power).toFixed(1))} ${["bytes", "KiB", "MiB", "GiB"][power] ?? ""}`
}
