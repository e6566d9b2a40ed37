// The executors of an application: when they came and went, and how busy they were.

import type { VNode } from 'preact'
import type { ExecutorRow, ExecutorsAnswer } from '../../api/spark.ts'
import { Bar } from '../../parts/bits.tsx'
import type { LaneBar } from '../../parts/lanes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { bytes, count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

const WORST = ['failed', 'killed', 'lost'] as const

const badOf = (row: ExecutorRow): number => WORST.reduce((sum, state) => sum + (row.task_states[state] ?? 0), 0)

export function executorBars(rows: readonly ExecutorRow[]): LaneBar[] {
  return rows.flatMap((row): LaneBar[] => {
    if (row.begin_time_ns === undefined || row.duration_ns === undefined) return []
    const gone = row.state === 'removed' ? `, went: ${visible(row.reason ?? 'no reason is known')}` : ''
    return [
      {
        key: row.executor,
        begin: row.begin_time_ns,
        end: row.begin_time_ns + BigInt(Math.round(row.duration_ns)),
        label: `executor ${visible(row.executor)} on ${visible(row.host ?? '?')}: ${duration(row.duration_ns)}${gone}`,
        text: `${visible(row.executor)} ${visible(row.host ?? '')}`,
        className: row.state === 'removed' ? 'failed' : 'fine',
        chosen: false,
      },
    ]
  })
}

const COLUMNS: readonly Column<ExecutorRow>[] = [
  {
    key: 'executor',
    head: 'executor',
    text: true,
    cell: (row) => (
      <>
        {visible(row.executor)} <bdi>{visible(row.host ?? '')}</bdi>
      </>
    ),
  },
  {
    key: 'state',
    head: 'state',
    text: true,
    cell: (row) => (row.reason === undefined ? row.state : `${row.state}: ${visible(row.reason)}`),
  },
  { key: 'cores', head: 'cores', cell: (row) => (row.cores === undefined ? '-' : count(row.cores)) },
  {
    key: 'lived',
    head: 'lived',
    cell: (row) => (row.duration_ns === undefined ? '-' : duration(row.duration_ns)),
  },
  { key: 'tasks', head: 'tasks', cell: (row) => count(row.tasks) },
  { key: 'failed', head: 'not well', cell: (row) => count(badOf(row)) },
  { key: 'time', head: 'in tasks', cell: (row) => duration(row.tasks_ns) },
  {
    key: 'busy',
    head: 'busy',
    title: 'Time in tasks, of all its cores while it lived',
    cell: (row) =>
      row.busy_share === undefined ? (
        '-'
      ) : (
        <Bar part={row.busy_share} whole={1}>
          {share(row.busy_share, 1)}
        </Bar>
      ),
  },
  { key: 'gc', head: 'collecting garbage', cell: (row) => duration(row.gc_ns) },
  { key: 'input', head: 'input', cell: (row) => bytes(row.input_bytes) },
  { key: 'shuffle', head: 'shuffle in', cell: (row) => bytes(row.shuffle_read_bytes) },
]

export function Executors({ answer }: { answer: ExecutorsAnswer }): VNode {
  if (answer.executors.length === 0) return <p>No executor of it is stored.</p>
  const lost = answer.executors.filter((row) => row.state === 'removed').length
  return (
    <>
      <p>
        {count(answer.executors.length)} executors, {lost === 0 ? 'none of which went' : `${count(lost)} of which went`}
        .
      </p>
      <Table label="Executors" columns={COLUMNS} rows={answer.executors} rowKey={(row) => row.executor} />
      {answer.more === true && <p class="more">The first {count(answer.executors.length)}.</p>}
    </>
  )
}
