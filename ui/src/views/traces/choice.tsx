// Traces by begin and duration, each or as counts; of a rectangle of them what differs from the others.

import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { ContrastAnswer, DistributionAnswer, TraceRow, TracesAnswer } from '../../api/answers.ts'
import type { Parameters } from '../../api/ask.ts'
import { go, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Exported } from '../../parts/export.tsx'
import { LatencyMap, latencyData, type Area } from '../../parts/latency.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { Scatter } from './scatter.tsx'

type Row = ContrastAnswer['rows'][number]

/** "since,until,least,most" in the address. */
export function chosenArea(): Area | undefined {
  const [since, until, least, most] = (value('area') ?? '').split(',')
  if (most === undefined || ![since, until, least, most].every((part) => /^\d+$/.test(part ?? ''))) return undefined
  return { since: BigInt(since!), until: BigInt(until!), least: Number(least), most: Number(most) }
}

const choose = (area: Area): void =>
  go({ area: [area.since, area.until, Math.floor(area.least), Math.ceil(area.most)].join(',') })

export function Points({ rows }: { rows: readonly TraceRow[] }): VNode {
  return (
    <Exported name="traces">
      <Scatter rows={rows} chosen={chosenArea()} onChoose={choose} />
    </Exported>
  )
}

const LATENCY = t('Durations over time')
const COUNTED = [t('trace'), t('traces')] as const

function asDistribution(counts: NonNullable<TracesAnswer['counts']>): DistributionAnswer {
  return { ...counts, of: 'duration', columns: counts.columns.map((column) => ({ ...column, calls: column.traces })) }
}

const write = (ns: number): string => duration(ns).replace(/\.\d+/, '')

/** More match than are listed: how many there are of each duration, at all times. */
export function Counted({ asked, rows }: { asked: Parameters; rows: readonly TraceRow[] }): VNode {
  const answer = useQuestion<TracesAnswer>('traces', { ...asked, summary: 'true', sort: undefined, limit: '1' })
  const chosen = chosenArea()
  // A new object for each answer only: what is drawn depends on it.
  const kept = useRef<{ of: TracesAnswer; drawn: DistributionAnswer } | undefined>(undefined)
  const counts = answer.data?.counts
  if (counts === undefined || counts.step_ns === undefined || counts.columns.length < 2)
    return answer.error === undefined ? <Points rows={rows} /> : <Shown answer={answer}>{() => null}</Shown>
  const drawn =
    kept.current !== undefined && kept.current.of === answer.data ? kept.current.drawn : asDistribution(counts)
  kept.current = { of: answer.data!, drawn }
  return (
    <section class="chart" aria-label={t('All that match')}>
      <p class="quiet-text">
        {tx('All {traces} traces that match, by begin and duration:', { traces: count(counts.traces) })}
      </p>
      <Exported name={LATENCY} data={() => latencyData({ answer: drawn, write, what: COUNTED })}>
        <LatencyMap
          answer={drawn}
          write={write}
          what={COUNTED}
          hint={t('A rectangle, or arrow keys and Enter, choose some, and tell what differs in them.')}
          onChoose={choose}
          {...(chosen === undefined ? {} : { chosen })}
        />
      </Exported>
    </section>
  )
}

function filterOf(row: Row): Record<string, string> {
  return row.kind === 'annotation' ? { annotation: `${row.key ?? ''}=${row.value}` } : { [row.kind]: row.value }
}

const COLUMNS: readonly Column<Row>[] = [
  {
    key: 'kind',
    head: t('what'),
    text: true,
    cell: (row) => (row.kind === 'annotation' ? visible(row.key ?? '') : word(row.kind)),
  },
  {
    key: 'value',
    head: t('which'),
    text: true,
    cell: (row) => (
      <button
        type="button"
        class="plain"
        title={t('Only traces with it')}
        onClick={() => go({ ...filterOf(row), area: undefined })}
      >
        <bdi>{visible(row.value)}</bdi>
      </button>
    ),
  },
  { key: 'a', head: t('of those chosen'), cell: (row) => share(row.a_share, 1) },
  { key: 'b', head: t('of the others'), cell: (row) => share(row.b_share, 1) },
  {
    key: 'apart',
    head: t('difference'),
    cell: (row) => (
      <span class={`change ${row.a_share > row.b_share ? 'slower' : 'faster'}`}>
        {row.a_share > row.b_share ? '▲' : '▼'} {share(Math.abs(row.a_share - row.b_share), 1)}
      </span>
    ),
  },
]

/** undefined: no rectangle is chosen. */
export function contrastAsked(asked: Parameters): Parameters | undefined {
  const area = chosenArea()
  if (area === undefined) return undefined
  return {
    ...asked,
    sort: undefined,
    limit: '12',
    a_since: String(area.since),
    a_until: String(area.until),
    a_min_duration: `${area.least}ns`,
    a_max_duration: `${area.most}ns`,
  }
}

export function Differs({ asked }: { asked: Parameters }): VNode {
  const area = chosenArea()
  const parameters = contrastAsked(asked)
  const answer = useQuestion<ContrastAnswer>('contrast', parameters ?? null)
  if (area === undefined) return <></>
  const when = t('{from} to {to}', {
    from: clockTime(area.since, zone.value),
    to: clockTime(area.until, zone.value),
  })
  const only = {
    since: String(area.since),
    until: String(area.until),
    min_duration: `${area.least}ns`,
    max_duration: `${area.most}ns`,
    area: undefined,
  }
  return (
    <section class="card open" aria-label={t('What differs')}>
      <header>
        <h2>{t('What differs')}</h2>
        <span class="quiet-text">
          {tx('{when}, {least} to {most}', { when, least: write(area.least), most: write(area.most) })}
        </span>
        <button type="button" class="small" onClick={() => go(only)}>
          {t('Only these traces')}
        </button>
        <button type="button" class="small" onClick={() => go({ area: undefined })}>
          {t('Choose none')}
        </button>
      </header>
      <Shown answer={answer} lines={5}>
        {(data) =>
          data.a_traces === 0 || data.b_traces === 0 ? (
            <p class="more">
              {data.a_traces === 0
                ? t('No trace is in the rectangle.')
                : t('All traces are in the rectangle: nothing to compare.')}
            </p>
          ) : (
            <>
              <p role="status">
                {tx('{aTraces} traces against {bTraces} others{more}:', {
                  aTraces: count(data.a_traces),
                  bTraces: count(data.b_traces),
                  more: data.more === true && t(' (the newest, the greatest differences)'),
                })}
              </p>
              <Table
                label={t('Differences')}
                columns={COLUMNS}
                rows={data.rows}
                rowKey={(row) => `${row.kind} ${row.key ?? ''} ${row.value}`}
              />
            </>
          )
        }
      </Shown>
    </section>
  )
}
