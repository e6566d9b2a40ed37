// All that is known of one span.

import type { VNode } from 'preact'
import type { Span } from '../../api/answers.ts'
import { linkTo } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { Name } from '../../parts/bits.tsx'
import { Facts } from '../../parts/measure.tsx'
import { Copy } from '../../parts/view.tsx'
import { clockTime } from '../../text/times.ts'
import { duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

function Annotations({ span }: { span: Span }): VNode {
  const entries = Object.entries(span.annotations ?? {}).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [key, one] as const),
  )
  if (entries.length === 0) return <></>
  return (
    <>
      <h4>Annotations</h4>
      <ul class="annotations">
        {entries.map(([key, text]) => (
          <li key={`${key} ${text}`}>
            <span class="label">{visible(key)}</span>
            <a href={linkTo('traces', '', { annotation: `${key}=${text}` })} title="Traces with it">
              {visible(text)}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

export function SpanPanel({ span, begin }: { span: Span; begin: bigint }): VNode {
  const facts: [string, string][] = [
    ['begins after', duration(Number(span.begin_time_ns - begin), span.resolution_ns)],
    ['at', clockTime(span.begin_time_ns, zone.value, 6)],
    ['duration', duration(span.duration_ns, span.resolution_ns)],
    ['self', duration(span.self_ns, span.resolution_ns)],
    ['critical', duration(span.critical_ns, span.resolution_ns)],
    ['host', visible(span.host ?? '-')],
  ]
  return (
    <section class="panel" aria-label="The call that is chosen" aria-live="polite">
      <h3>
        <Name text={span.function} role={span.role} />
      </h3>
      {span.description !== span.function && <p class="quiet-text">{visible(span.description)}</p>}
      {(span.flags ?? []).map((flag) => (
        <span key={flag} class="mark">
          {flag}
        </span>
      ))}
      <Facts facts={facts} />
      <Annotations span={span} />
      {(span.notes ?? []).length > 0 && (
        <>
          <h4>Notes</h4>
          <ul class="annotations">
            {span.notes!.map((note, i) => (
              <li key={i}>
                <span class="label">
                  {duration(Number(BigInt(note.time_ns) - span.begin_time_ns), span.resolution_ns)}
                </span>
                {visible(note.message)}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="quiet-text">
        {visible(span.process)} <br />
        <code>{span.span}</code> <Copy text={span.span} label="copy" />
      </p>
      <p class="buttons">
        <a class="button" href={linkTo('functions', '', { function: span.function, by: 'host' })}>
          On other hosts
        </a>
        <a
          class="button"
          href={linkTo('traces', '', { function: span.function, host: span.host, sort: 'duration_ns' })}
        >
          Slowest traces with it
        </a>
      </p>
    </section>
  )
}
