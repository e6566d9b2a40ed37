// Which traces?

import type { VNode } from 'preact'
import type { TraceRow, TracesAnswer } from '../../api/answers.ts'
import type { Parameters } from '../../api/ask.ts'
import { go, linkTo, refine, value, values } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { Bar, Chips, Field, Name, RoleChoice } from '../../parts/bits.tsx'
import { NameField } from '../../parts/name-field.tsx'
import { Empty, Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Counted, Differs, Points, contrastAsked } from './choice.tsx'

const LIMIT = '200'
const FILTERS = [
  'function',
  'host',
  'role',
  'path',
  'annotation',
  'min_duration',
  'max_duration',
  'call_min_duration',
  'call_max_duration',
  'pattern',
  'incomplete',
] as const

function marksOf(row: TraceRow): string {
  return [
    row.incomplete ? t('spans are missing') : '',
    row.in_parts === true ? t('in parts') : '',
    row.rare ? t('rare shape') : '',
  ]
    .filter((mark) => mark !== '')
    .join(', ')
}

function Tick({ row }: { row: TraceRow }): VNode {
  const ticked = values('tick')
  const on = ticked.includes(row.trace)
  return (
    <input
      type="checkbox"
      checked={on}
      aria-label={t('compare trace {trace}', { trace: row.trace })}
      onChange={() =>
        refine({ tick: on ? ticked.filter((one) => one !== row.trace) : [...ticked.slice(-1), row.trace] })
      }
    />
  )
}

function Ticked(): VNode {
  const [a, b] = values('tick')
  if (a === undefined) return <></>
  return (
    <p class="chips" role="status">
      {b === undefined ? (
        <span class="quiet-text">{t('Tick another one, to compare both.')}</span>
      ) : (
        <a class="button" href={linkTo('diff', '', { kind: 'trace', a, b })}>
          {t('Compare the two that are ticked')}
        </a>
      )}
    </p>
  )
}

function columnsOf(rows: readonly TraceRow[]): Column<TraceRow>[] {
  const longest = Math.max(...rows.map((row) => row.duration_ns))
  return [
    { key: 'tick', head: '', text: true, cell: (row) => <Tick row={row} /> },
    {
      key: 'begin',
      head: t('begin'),
      sort: 'begin_time_ns',
      cell: (row) => dayTime(row.begin_time_ns, zone.value, 3),
    },
    {
      key: 'root',
      head: t('root'),
      text: true,
      cell: (row) => (
        <a class="plain" href={linkTo('trace', row.trace)}>
          <Name text={row.root} role={row.role} />
        </a>
      ),
    },
    { key: 'host', head: t('host'), text: true, cell: (row) => visible(row.host ?? '') },
    {
      key: 'duration',
      head: t('duration'),
      sort: 'duration_ns',
      cell: (row) => (
        <Bar part={row.duration_ns} whole={longest}>
          {duration(row.duration_ns)}
        </Bar>
      ),
    },
    { key: 'spans', head: t('spans'), sort: 'spans', cell: (row) => count(row.spans) },
    {
      key: 'trace',
      head: t('trace'),
      text: true,
      cell: (row) => (
        <a href={linkTo('trace', row.trace)}>
          <code>{row.trace}</code>
        </a>
      ),
    },
    { key: 'marks', head: '', text: true, cell: marksOf },
  ]
}

function sentence(answer: TracesAnswer | undefined): VNode | undefined {
  const rows = answer?.traces ?? []
  if (rows.length === 0) return undefined
  const slowest = rows.reduce((a, b) => (b.duration_ns > a.duration_ns ? b : a))
  const sorted = value('sort') !== undefined
  return (
    <>
      {tx('{more}; the longest took {duration}.', {
        more:
          value('after') !== undefined
            ? t('{rows} more', { rows: count(rows.length) })
            : answer?.more === true
              ? sorted
                ? t('The first {rows} that match', { rows: count(rows.length) })
                : t('The newest {rows} that match', { rows: count(rows.length) })
              : `${count(rows.length)} ${rows.length === 1 ? t('trace matches') : t('traces match')}`,
        duration: <a href={linkTo('trace', slowest.trace)}>{duration(slowest.duration_ns)}</a>,
      })}
    </>
  )
}

function Behind(): VNode {
  if (value('after') === undefined) return <></>
  return (
    <p class="more">
      {t('The list goes on behind the page before.')}{' '}
      <button type="button" onClick={() => go({ after: undefined })}>
        {t('From the beginning')}
      </button>
    </p>
  )
}

function Found({ answer, asked }: { answer: TracesAnswer; asked: Parameters }): VNode {
  if (answer.traces.length === 0)
    return (
      <>
        <Behind />
        <Empty what={t('No traces')} filters={FILTERS.filter((name) => value(name) !== undefined)} />
      </>
    )
  const all = { ...asked, after: undefined }
  return (
    <>
      {answer.more || value('after') !== undefined ? (
        <Counted asked={all} rows={answer.traces} />
      ) : (
        <Points rows={answer.traces} />
      )}
      <Differs asked={all} />
      <Ticked />
      <Behind />
      <Table
        label={t('Traces')}
        columns={columnsOf(answer.traces)}
        rows={answer.traces}
        rowKey={(row) => row.trace}
        defaultSort="begin_time_ns"
      />
      {answer.more && (
        <p class="more">
          {t('There are more.')}{' '}
          <button type="button" onClick={() => go({ after: answer.next })}>
            {tx('The next {traces}', { traces: count(answer.traces.length) })}
          </button>{' '}
          <button type="button" onClick={() => go({ limit: String(answer.traces.length * 5), after: undefined })}>
            {t('Show five times as many')}
          </button>{' '}
          <button type="button" onClick={() => go({ sort: 'duration_ns', after: undefined })}>
            {t('The longest of all')}
          </button>
        </p>
      )}
    </>
  )
}

export function TracesView(): VNode {
  const parameters = {
    ...askedPeriod(),
    function: value('function'),
    host: value('host'),
    role: value('role'),
    path: value('path'),
    annotation: values('annotation'),
    min_duration: value('min_duration'),
    max_duration: value('max_duration'),
    call_min_duration: value('call_min_duration'),
    call_max_duration: value('call_max_duration'),
    pattern: value('pattern'),
    incomplete: value('incomplete'),
    sort: value('sort'),
    limit: value('limit') ?? LIMIT,
    after: value('after'),
  }
  const answer = useQuestion<TracesAnswer>('traces', parameters)
  const contrast = contrastAsked({ ...parameters, after: undefined })
  return (
    <View
      title={t('Traces')}
      question={t('Which traces?')}
      sentence={sentence(answer.data)}
      asked={[
        { question: 'traces', parameters },
        ...(contrast === undefined ? [] : [{ question: 'contrast', parameters: contrast }]),
      ]}
      tools={
        <>
          <NameField name="function" kind="function" label={t('calls')} />
          <NameField name="host" kind="host" label={t('on')} />
          <Field name="path" label={t('path')} placeholder="/a/b, *.gz" />
          <Field name="min_duration" label={t('at least')} placeholder="100ms" width={6} />
          <Field name="max_duration" label={t('at most')} placeholder="1s" width={6} />
          <RoleChoice />
        </>
      }
    >
      <Chips
        names={[
          ['function', t('calls')],
          ['host', t('on')],
          ['path', t('path')],
          ['annotation', t('annotation')],
          ['min_duration', t('at least')],
          ['max_duration', t('at most')],
          ['call_min_duration', t('that call at least')],
          ['call_max_duration', t('that call at most')],
          ['pattern', t('pattern')],
          ['incomplete', t('incomplete')],
        ]}
      />
      <Shown answer={answer} lines={16} names={['host', 'pattern']}>
        {(data) => <Found answer={data} asked={parameters} />}
      </Shown>
    </View>
  )
}
