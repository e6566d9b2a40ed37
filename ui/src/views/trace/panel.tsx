// All that is known of one span.

import type { VNode } from 'preact'
import { linkTo } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import type { Answer } from '../../app/question.ts'
import { HostLink, Name } from '../../parts/bits.tsx'
import { Facts } from '../../parts/measure.tsx'
import { Copy, Sames } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count, duration, durationSigned } from '../../text/units.ts'
import { hasChildren } from '../../timeline/rows.ts'
import { visible } from '../../text/visible.ts'
import {
  flagsOf,
  functionOf,
  processOf,
  recordedBegin,
  resolutionOf,
  spanId,
  type SpanAnswer,
  type Trace,
} from './model.ts'
import { choose, seenOf, type Shown } from './shown.ts'

type Stored = SpanAnswer['row']

function Annotations({ span }: { span: Stored }): VNode {
  const entries = Object.entries(span.annotations ?? {}).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [key, one] as const),
  )
  if (entries.length === 0) return <></>
  return (
    <>
      <h4>{t('Annotations')}</h4>
      <ul class="annotations">
        {entries.map(([key, text]) => (
          <li key={`${key} ${text}`}>
            <span class="label">{visible(key)}</span>
            <a href={linkTo('traces', '', { annotation: `${key}=${text}` })} title={t('Traces with it')}>
              {visible(text)}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Notes({ span, resolution }: { span: Stored; resolution: number }): VNode {
  const notes = span.notes ?? []
  if (notes.length === 0) return <></>
  return (
    <>
      <h4>{t('Notes')}</h4>
      <ul class="annotations">
        {notes.map((note, i) => (
          <li key={i}>
            <span class="label">{duration(Number(BigInt(note.time_ns) - span.begin_time_ns), resolution)}</span>
            {visible(note.message)}
          </li>
        ))}
      </ul>
    </>
  )
}

function FoldButtons({ shown }: { shown: Shown }): VNode {
  const { chosen, folds, trace } = shown
  const name = visible(functionOf(trace, chosen))
  return (
    <p class="buttons">
      <button type="button" class="small" onClick={() => folds.toggle(chosen)}>
        {folds.has(chosen) ? t('Unfold it') : t('Fold it')}
      </button>
      {!folds.areClosed && (
        <button type="button" class="small" onClick={() => folds.toggleFunction(chosen)}>
          {folds.hasFunction(chosen) ? t('Unfold all {name}', { name }) : t('Fold all {name}', { name })}
        </button>
      )}
    </p>
  )
}

const MOST_LISTED = 6

function CallButton({ trace, row }: { trace: Trace; row: number }): VNode {
  const { role, host } = processOf(trace, row)
  return (
    <button type="button" class="plain link" onClick={() => choose(row)}>
      <Name text={functionOf(trace, row)} role={role} /> {visible(host ?? '')}
    </button>
  )
}

/** Who called it from another process, and what it and all below it call in others. */
function Elsewhere({ shown }: { shown: Shown }): VNode {
  const { trace, crossings } = shown
  const [caller] = crossings.above
  const { below, belowTotal } = crossings
  return (
    <>
      {caller !== undefined && (
        <>
          <h4>{t('Called from another process')}</h4>
          <ul class="annotations">
            <li>
              <CallButton trace={trace} row={caller.from} />
            </li>
          </ul>
        </>
      )}
      {belowTotal > 0 && (
        <>
          <h4>{t('Calls in other processes')}</h4>
          <ul class="annotations">
            {below.slice(0, MOST_LISTED).map(({ to }) => (
              <li key={to}>
                <CallButton trace={trace} row={to} />
              </li>
            ))}
          </ul>
          {belowTotal > Math.min(below.length, MOST_LISTED) && (
            <p class="quiet-text">
              {tx('{more} more below it, not listed.', {
                more: count(belowTotal - Math.min(below.length, MOST_LISTED)),
              })}
            </p>
          )}
        </>
      )}
    </>
  )
}

/** What the columns have at once; the rest when it has come. */
export function SpanPanel({ shown, answer }: { shown: Shown; answer: Answer<SpanAnswer> }): VNode {
  const { trace, chosen, critical } = shown
  const id = spanId(trace, chosen)
  const span = answer.data?.row.span === id ? answer.data.row : undefined
  const resolution = resolutionOf(trace, chosen)
  const { role, host, process } = processOf(trace, chosen)
  const name = functionOf(trace, chosen)
  const begin = recordedBegin(trace, chosen)
  const moved = trace.moved?.[trace.calls.process[chosen]!] ?? 0
  const waited = critical?.[chosen]
  const limit = shown.usual?.limitOf(chosen)
  const below = hasChildren(trace.tree.end, chosen)
  const facts: [string, VNode | string][] = [
    [t('begins after'), duration(begin, resolution)],
    [t('at'), clockTime(trace.head.begin_time_ns + BigInt(Math.round(begin)), zone.value, 6)],
    [t('duration'), duration(trace.calls.duration[chosen]!, resolution)],
    [t('self'), duration(trace.tree.self[chosen]!, resolution)],
    [t('critical'), waited === undefined ? '-' : duration(waited, resolution)],
    ...(moved === 0 ? [] : [[t('moved by'), durationSigned(moved)] as [string, string]]),
    ...(limit === undefined ? [] : [[t('95 % of that hour'), duration(limit.ns, resolution)] as [string, string]]),
    [t('host'), <HostLink host={host} />],
    [t('below it'), below ? t('{calls} calls', { calls: count(shown.sums.of(chosen).calls) }) : t('nothing')],
  ]
  return (
    <section class="panel" aria-label={t('The call that is chosen')} aria-live="polite">
      <h3>
        <Name text={name} role={role} />
      </h3>
      {span && span.description !== name && <p class="quiet-text">{visible(span.description)}</p>}
      {shown.usual?.isSlow(chosen) === true && (
        <span class="mark" title={t('of {calls} calls in that hour', { calls: count(limit!.calls) })}>
          {t('slowest 5 %')}
        </span>
      )}
      {flagsOf(trace, chosen).map((flag) => (
        <span key={flag} class="mark">
          {flag}
        </span>
      ))}
      <Facts facts={facts} />
      {below && <FoldButtons shown={shown} />}
      {seenOf(shown, chosen) !== chosen && (
        <p class="quiet-text">
          {tx('It is folded into {name}.', { name: visible(functionOf(trace, seenOf(shown, chosen))) })}
        </p>
      )}
      {answer.error !== undefined && <p class="notice bad">{answer.error}</p>}
      <Elsewhere shown={shown} />
      {span && <Annotations span={span} />}
      {span && <Notes span={span} resolution={resolution} />}
      <p class="quiet-text">
        {visible(process)} <br />
        <code>{id}</code> <Copy text={id} label={t('copy')} />
      </p>
      <p class="buttons">
        <a class="button" href={linkTo('functions', '', { function: name, by: 'host' })}>
          {t('On other hosts')}
        </a>
        <a class="button" href={linkTo('traces', '', { function: name, host, sort: 'duration_ns' })}>
          {t('Slowest traces with it')}
        </a>
      </p>
      <div class="sames">
        <Sames asked={[{ question: 'span', parameters: { id } }]} />
      </div>
    </section>
  )
}
