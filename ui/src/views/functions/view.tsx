// What costs, and how is it spread?

import type { VNode } from 'preact'
import type { FunctionRow, FunctionsAnswer, Measure } from '../../api/answers.ts'
import { go, linkTo, linkWith, value } from '../../app/address.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { logDomain, type Domain } from '../../marks/strip.tsx'
import { Bar, ByHostChoice, Chips, Choice, Name, Opener, RoleChoice } from '../../parts/bits.tsx'
import { Empty, Shown, Widened } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { bytes, bytesPerS, count, duration, meanResolution, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { FunctionDetail } from './detail.tsx'
import { SPREADS, spreadCell, type Kind } from './spread.tsx'

const ROWS = '200'
const FILTERS = ['role', 'host', 'function', 'find']

export function notesOf(row: Measure): string {
  const notes: [string, number | undefined][] = [
    [t('orphans'), row.orphan_calls],
    [t('ended before they began'), row.reversed_calls],
    [t('outside their parent'), row.outside_parent_calls],
  ]
  return notes.flatMap(([name, calls]) => (calls === undefined ? [] : [`${count(calls)} ${name}`])).join(', ')
}

const keyOf = (row: FunctionRow): string => `${row.function} ${row.role} ${row.host ?? ''}`.trim()

function nameCell(row: FunctionRow): VNode {
  const open = value('open') === keyOf(row)
  return (
    <Opener open={open} turn={() => go({ open: open ? undefined : keyOf(row) })}>
      <Name text={row.function} role={row.role} />
    </Opener>
  )
}

const mean = (row: Measure): string => duration(row.mean_ns, meanResolution(row.resolution_ns, row.calls))
const time = (row: Measure, ns: number | undefined): string =>
  ns === undefined ? '-' : (row.exact_quantiles === false ? '~' : '') + duration(ns, row.resolution_ns)

function timeColumns(rows: readonly FunctionRow[], domain: Domain): Column<FunctionRow>[] {
  const self = Math.max(...rows.map((row) => row.self_ns))
  return [
    { key: 'calls', head: t('calls'), sort: 'calls', cell: (row) => count(row.calls) },
    { key: 'mean', head: t('mean'), sort: 'mean_ns', cell: mean },
    { key: 'spread', head: t('spread (log)'), cell: (row) => spreadCell('times', row, domain) },
    { key: 'q50', head: t('median'), sort: 'q50_ns', cell: (row) => time(row, row.q50_ns) },
    { key: 'q95', head: '95 %', sort: 'q95_ns', cell: (row) => time(row, row.q95_ns) },
    { key: 'max', head: t('most'), sort: 'max_ns', cell: (row) => duration(row.max_ns ?? 0, row.resolution_ns) },
    {
      key: 'self',
      head: t('self time'),
      title: t('time in the call itself, not in what it called'),
      sort: 'self_ns',
      cell: (row) => (
        <Bar part={row.self_ns} whole={self}>
          {duration(row.self_ns, row.resolution_ns)}
        </Bar>
      ),
    },
    {
      key: 'critical',
      head: t('critical'),
      title: t('the share of it for which the root really waited'),
      sort: 'critical_ns',
      cell: (row) => duration(row.critical_ns, row.resolution_ns),
    },
    { key: 'total', head: t('total'), sort: 'total_ns', cell: (row) => duration(row.total_ns, row.resolution_ns) },
  ]
}

function bytesColumns(kind: 'bytes' | 'rate', domain: Domain): Column<FunctionRow>[] {
  const of = (row: FunctionRow, write: (row: FunctionRow) => string | undefined): string => write(row) ?? '-'
  return [
    {
      key: 'calls',
      head: t('calls'),
      sort: 'bytes.calls',
      cell: (row) => of(row, (r) => r.bytes && count(r.bytes.calls)),
    },
    {
      key: 'total',
      head: t('bytes'),
      sort: 'bytes.total_bytes',
      cell: (row) => of(row, (r) => r.bytes && bytes(r.bytes.total_bytes)),
    },
    {
      key: 'mean',
      head: t('mean'),
      sort: 'bytes.mean_bytes',
      cell: (row) => of(row, (r) => r.bytes && bytes(r.bytes.mean_bytes)),
    },
    {
      key: 'spread',
      head: kind === 'bytes' ? t('bytes (log)') : t('rate (log)'),
      cell: (row) => spreadCell(kind, row, domain),
    },
    {
      key: 'rate',
      head: t('mean rate'),
      sort: 'rate.mean_bytes_per_s',
      cell: (row) => of(row, (r) => r.rate && bytesPerS(r.rate.mean_bytes_per_s)),
    },
    {
      key: 'small',
      head: '< 4 KiB',
      sort: 'bytes.small_calls',
      cell: (row) => of(row, (r) => r.bytes && count(r.bytes.small_calls ?? 0)),
    },
  ]
}

function columnsOf(kind: Kind, rows: readonly FunctionRow[]): Column<FunctionRow>[] {
  const spreads = rows.flatMap((row) => SPREADS[kind].spread(row) ?? [])
  const domain = logDomain(spreads.flatMap((spread) => [spread.min, spread.max]))
  const names: Column<FunctionRow>[] = [
    { key: 'function', head: t('function'), sort: 'function', text: true, cell: nameCell },
  ]
  if (value('by') === 'host')
    names.push({
      key: 'host',
      head: t('host'),
      sort: 'host',
      text: true,
      cell: (row) => (
        <a class="plain" href={linkWith({ host: row.host, by: undefined })}>
          {visible(row.host ?? '')}
        </a>
      ),
    })
  const columns = [...names, ...(kind === 'times' ? timeColumns(rows, domain) : bytesColumns(kind, domain))]
  if (rows.some((row) => notesOf(row) !== ''))
    columns.push({ key: 'notes', head: t('notes'), text: true, cell: notesOf })
  return columns
}

function sentence(answer: FunctionsAnswer | undefined): VNode | undefined {
  const rows = answer?.functions ?? []
  if (rows.length === 0) return undefined
  const most = rows.reduce((a, b) => (b.self_ns > a.self_ns ? b : a))
  const all = rows.reduce((sum, row) => sum + row.self_ns, 0)
  return (
    <>
      {tx(
        'Most time is in {function} ({role}){more}: {self} of its own in {calls} calls, {self2} of the self time of what is listed.',
        {
          function: <a href={linkTo('traces', '', { function: most.function })}>{visible(most.function)}</a>,
          role: most.role,
          more: most.host !== undefined && t(' on {host}', { host: visible(most.host) }),
          self: duration(most.self_ns, most.resolution_ns),
          calls: count(most.calls),
          self2: share(most.self_ns, all),
        },
      )}
    </>
  )
}

function Tools(): VNode {
  return (
    <>
      <Choice
        name="show"
        label={t('show')}
        options={[
          ['times', t('times')],
          ['bytes', t('bytes')],
          ['rate', t('bytes per second')],
        ]}
      />
      <ByHostChoice />
      <RoleChoice />
    </>
  )
}

function More({ answer }: { answer: FunctionsAnswer }): VNode {
  if (answer.more !== true) return <></>
  return (
    <p class="more">
      {tx('The first {functions} rows.', { functions: count(answer.functions.length) })}{' '}
      <button type="button" onClick={() => go({ limit: '0' })}>
        {t('Show all')}
      </button>
    </p>
  )
}

function NoRows({ kind }: { kind: Kind }): VNode {
  if (kind !== 'times') return <Empty what={t('None of these calls recorded bytes')} filters={['show']} />
  const find = value('find')
  const what = find === undefined ? t('No calls') : t('No calls with “{find}” in their name', { find: visible(find) })
  return <Empty what={what} filters={FILTERS.filter((name) => value(name))} />
}

function Rows({ answer }: { answer: FunctionsAnswer }): VNode {
  const find = (value('find') ?? '').toLowerCase()
  const kind = (value('show') ?? 'times') as Kind
  const fits = (row: FunctionRow): boolean =>
    `${row.function} ${row.host ?? ''}`.toLowerCase().includes(find) && (kind === 'times' || row.bytes !== undefined)
  const rows = answer.functions.filter(fits)
  return (
    <>
      <Widened answer={answer} />
      {rows.length === 0 ? (
        <NoRows kind={kind} />
      ) : (
        <Table
          label={t('Functions')}
          columns={columnsOf(kind in SPREADS ? kind : 'times', rows)}
          rows={rows}
          rowKey={keyOf}
          defaultSort="total_ns"
          open={(row) => value('open') === keyOf(row)}
          detail={(row) => <FunctionDetail row={row} />}
        />
      )}
      <More answer={answer} />
    </>
  )
}

/** A name is looked for here, among what is answered: by host that may be much, and what was left out is said. */
const limitOf = (): string => value('limit') ?? (value('find') !== undefined && value('by') === undefined ? '0' : ROWS)

export function FunctionsView(): VNode {
  const parameters = {
    ...askedPeriod(),
    role: value('role'),
    host: value('host'),
    function: value('function'),
    by: value('by'),
    sort: value('sort'),
    limit: limitOf(),
  }
  const answer = useQuestion<FunctionsAnswer>('functions', parameters)
  return (
    <View
      title={t('Functions')}
      question={t('What costs, and how is it spread?')}
      sentence={sentence(answer.data)}
      asked={[{ question: 'functions', parameters }]}
      tools={<Tools />}
    >
      <Chips
        names={[
          ['host', t('host')],
          ['function', t('function')],
          ['find', t('contains')],
        ]}
      />
      <Shown answer={answer} lines={16} names={['host']}>
        {(data) => <Rows answer={data} />}
      </Shown>
    </View>
  )
}
