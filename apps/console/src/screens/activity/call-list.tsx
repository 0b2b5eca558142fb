import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef } from "react"

import type { RecordedCall } from "../../calls/call-log.ts"
import { durationText, stateOf, subjectOf, timeText } from "../../calls/describe-call.ts"
import { StateBadge } from "../../parts.tsx"
import { addressOf } from "../../route.ts"

interface CallListProps {
  readonly workspace: string
  readonly calls: ReadonlyArray<RecordedCall>
  readonly openKey: string | undefined
  readonly waiting: ReadonlySet<string>
}

const rowHeight = 46

/** A list that draws only the rows in sight. */
export const CallList = ({ workspace, calls, openKey, waiting }: CallListProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: calls.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => calls[index]?.key ?? index,
    overscan: 8
  })
  const openIndex = calls.findIndex(({ key }) => key === openKey)
  useEffect(() => {
    if (openIndex >= 0) virtualizer.scrollToIndex(openIndex, { align: "auto" })
    // Only when another call is opened: new calls must not pull the list along.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [openKey])
  return (
    <div className="call-scroller" ref={scroller}>
      <ol className="calls" style={{ blockSize: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const call = calls[index]
          return (
            call !== undefined && (
              <li
                key={key}
                aria-setsize={calls.length}
                aria-posinset={index + 1}
                style={{ blockSize: rowHeight, transform: `translateY(${start}px)` }}
              >
                <a
                  href={addressOf(workspace, "activity", call.key)}
                  aria-current={call.key === openKey ? "true" : undefined}
                >
                  <StateBadge state={stateOf(call, waiting)} />
                  <span className="call-tool">{call.tool}</span>
                  <span className="call-subject">{subjectOf(call)}</span>
                  <span className="call-duration">{durationText(call.durationMs)}</span>
                  <time dateTime={new Date(call.startedAt).toISOString()}>{timeText(call.startedAt)}</time>
                </a>
              </li>
            )
          )
        })}
      </ol>
    </div>
  )
}
