// The executors of an application: when they came and went, and how busy they were.

import type { VNode } from 'preact'
import type { ExecutorRow, ExecutorsAnswer, ResourceProfile } from '../../api/spark.ts'
import { Bar } from '../../parts/bits.tsx'
import type { LaneBar } from '../../parts/lanes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { bytes, count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'

const WORST = ['failed', 'killed', 'lost'] as const

const badOf = (row: ExecutorRow): number => WORST.reduce((sum, state) => sum + (row.task_states[state] ?? 0), 0)

export function executorBars(rows: readonly ExecutorRow[]): LaneBar[] {
  return rows.flatMap((row): LaneBar[] => {
    if (row.begin_time_ns === undefined || row.duration_ns === undefined) return []
    const gone =
      row.state === 'removed' ? t(', went: {reason}', { reason: visible(row.reason ?? t('no reason is known')) }) : ''
    return [
      {
        key: row.executor,
        begin: row.begin_time_ns,
        end: row.begin_time_ns + BigInt(Math.round(row.duration_ns)),
        label: t('executor {executor} on {host}: {duration}{gone}', {
          executor: visible(row.executor),
          host: visible(row.host ?? '?'),
          duration: duration(row.duration_ns),
          gone,
        }),
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
    head: t('executor'),
    text: true,
    cell: (row) => (
      <>
        {visible(row.executor)} <bdi>{visible(row.host ?? '')}</bdi>
      </>
    ),
  },
  {
    key: 'state',
    head: t('state'),
    text: true,
    cell: (row) => (row.reason === undefined ? word(row.state) : `${word(row.state)}: ${visible(row.reason)}`),
  },
  { key: 'cores', head: t('cores'), cell: (row) => (row.cores === undefined ? '-' : count(row.cores)) },
  {
    key: 'lived',
    head: t('lived'),
    cell: (row) => (row.duration_ns === undefined ? '-' : duration(row.duration_ns)),
  },
  { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
  { key: 'failed', head: t('not well'), cell: (row) => count(badOf(row)) },
  { key: 'time', head: t('in tasks'), cell: (row) => duration(row.tasks_ns) },
  {
    key: 'busy',
    head: t('busy'),
    title: t('Time in tasks, of all its cores while it lived'),
    cell: (row) =>
      row.busy_share === undefined ? (
        '-'
      ) : (
        <Bar part={row.busy_share} whole={1}>
          {share(row.busy_share, 1)}
        </Bar>
      ),
  },
  { key: 'gc', head: t('collecting garbage'), cell: (row) => duration(row.gc_ns) },
  { key: 'input', head: t('input'), cell: (row) => bytes(row.input_bytes) },
  { key: 'shuffle', head: t('shuffle in'), cell: (row) => bytes(row.shuffle_read_bytes) },
]

/** "Resource profile 1: 2 GiB of memory, 4 cores, 2 a task, executor gpu 1." */
function profileText(profile: ResourceProfile): string {
  const parts = [
    profile.memory_bytes !== undefined && t('{memory} of memory', { memory: bytes(profile.memory_bytes) }),
    profile.cores !== undefined && t('{cores} cores', { cores: count(profile.cores) }),
    profile.task_cpus !== undefined && t('{cores} a task', { cores: profile.task_cpus }),
    ...Object.entries(profile.others).map(([name, amount]) => `${visible(name)} ${visible(amount)}`),
  ]
  return parts.filter((part) => part !== false).join(', ')
}

export function Executors({ answer }: { answer: ExecutorsAnswer }): VNode {
  if (answer.executors.length === 0) return <p>{t('No executor of it is stored.')}</p>
  const lost = answer.executors.filter((row) => row.state === 'removed').length
  return (
    <>
      <p>
        {tx('{executors} executors, {more}.', {
          executors: count(answer.executors.length),
          more: lost === 0 ? t('none of which went') : t('{lost} of which went', { lost: count(lost) }),
        })}
      </p>
      <Table label={t('Executors')} columns={COLUMNS} rows={answer.executors} rowKey={(row) => row.executor} />
      {answer.exclusions?.map((one) => (
        <p key={one.text}>{visible(one.text)}</p>
      ))}
      {answer.profiles?.map((one) => (
        <p key={one.profile}>
          {tx('Resource profile {profile}: {what}.', { profile: one.profile, what: profileText(one) })}
        </p>
      ))}
      {answer.more === true && (
        <p class="more">{tx('The first {executors}.', { executors: count(answer.executors.length) })}</p>
      )}
    </>
  )
}
