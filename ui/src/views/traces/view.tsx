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
    row.incomplete ? 'spans are missing' : '',
    row.in_parts === true ? 'in parts' : '',
    row.rare ? 'rare shape' : '',
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
      aria-label={`compare trace ${row.trace}`}
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
        <span class="quiet-text">Tick another one, to compare both.</span>
      ) : (
        <a class="button" href={linkTo('diff', '', { kind: 'trace', a, b })}>
          Compare the two that are ticked
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
      head: 'begin',
      sort: 'begin_time_ns',
      cell: (row) => dayTime(row.begin_time_ns, zone.value, 3),
    },
    {
      key: 'root',
      head: 'root',
      text: true,
      cell: (row) => (
        <a class="plain" href={linkTo('trace', row.trace)}>
          <Name text={row.root} role={row.role} />
        </a>
      ),
    },
    { key: 'host', head: 'host', text: true, cell: (row) => visible(row.host ?? '') },
    {
      key: 'duration',
      head: 'duration',
      sort: 'duration_ns',
      cell: (row) => (
        <Bar part={row.duration_ns} whole={longest}>
          {duration(row.duration_ns)}
        </Bar>
      ),
    },
    { key: 'spans', head: 'spans', sort: 'spans', cell: (row) => count(row.spans) },
    {
      key: 'trace',
      head: 'trace',
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
      {value('after') !== undefined
        ? `${count(rows.length)} more`
        : answer?.more === true
          ? `The ${sorted ? 'first' : 'newest'} ${count(rows.length)} that match`
          : `${count(rows.length)} ${rows.length === 1 ? 'trace matches' : 'traces match'}`}
      ; the longest took <a href={linkTo('trace', slowest.trace)}>{duration(slowest.duration_ns)}</a>.
    </>
  )
}

function Behind(): VNode {
  if (value('after') === undefined) return <></>
  return (
    <p class="more">
      The list goes on behind the page before.{' '}
      <button type="button" onClick={() => go({ after: undefined })}>
        From the beginning
      </button>
    </p>
  )
}

function Found({ answer, asked }: { answer: TracesAnswer; asked: Parameters }): VNode {
  if (answer.traces.length === 0)
    return (
      <>
        <Behind />
        <Empty what="No traces" filters={FILTERS.filter((name) => value(name) !== undefined)} />
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
        label="Traces"
        columns={columnsOf(answer.traces)}
        rows={answer.traces}
        rowKey={(row) => row.trace}
        defaultSort="begin_time_ns"
      />
      {answer.more && (
        <p class="more">
          There are more.{' '}
          <button type="button" onClick={() => go({ after: answer.next })}>
            The next {count(answer.traces.length)}
          </button>{' '}
          <button type="button" onClick={() => go({ limit: String(answer.traces.length * 5), after: undefined })}>
            Show five times as many
          </button>{' '}
          <button type="button" onClick={() => go({ sort: 'duration_ns', after: undefined })}>
            The longest of all
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
      title="Traces"
      question="Which traces?"
      sentence={sentence(answer.data)}
      asked={[
        { question: 'traces', parameters },
        ...(contrast === undefined ? [] : [{ question: 'contrast', parameters: contrast }]),
      ]}
      tools={
        <>
          <NameField name="function" kind="function" label="calls" />
          <NameField name="host" kind="host" label="on" />
          <Field name="path" label="path" placeholder="/a/b, *.gz" />
          <Field name="min_duration" label="at least" placeholder="100ms" width={6} />
          <Field name="max_duration" label="at most" placeholder="1s" width={6} />
          <RoleChoice />
        </>
      }
    >
      <Chips
        names={[
          ['function', 'calls'],
          ['host', 'on'],
          ['path', 'path'],
          ['annotation', 'annotation'],
          ['min_duration', 'at least'],
          ['max_duration', 'at most'],
          ['call_min_duration', 'that call at least'],
          ['call_max_duration', 'that call at most'],
          ['pattern', 'pattern'],
          ['incomplete', 'incomplete'],
        ]}
      />
      <Shown answer={answer} lines={16}>
        {(data) => <Found answer={data} asked={parameters} />}
      </Shown>
    </View>
  )
}
