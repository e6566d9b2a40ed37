// The tasks of a stage as they are drawn: columns, and what each is coloured by.

import type { Column, Columns, ColumnsHead } from '../../api/columns.ts'
import { t } from '../../text/t.ts'
import { word } from '../../text/words.ts'
import type { TaskTimes } from '../../timeline/task-lanes.ts'
import { medianOf } from './median.ts'

export interface StageHead extends ColumnsHead {
  readonly app: string
  readonly stage: number
  readonly stage_attempt: number
  readonly tasks_total: number
  readonly begin_time_ns?: bigint
  readonly executors: readonly { readonly executor: string; readonly host: string }[]
  readonly statuses: readonly string[]
  /** The first is none. */
  readonly causes: readonly string[]
}

export interface StageTasks extends TaskTimes {
  readonly head: StageHead
  readonly task: Column
  readonly input: Column
  /** From all hosts. */
  readonly shuffle: Column
  readonly status: Column
  readonly cause: Column
  /** Of those that ended well, ns; 0: of none. */
  readonly median: number
}

/** So many tasks the table lists. So many are elements at most, too: of a narrow one it has the link. */
export const LISTED = 200
export const SLOW_TIMES = 1.5
const BAD = new Set(['failed', 'killed', 'lost'])

export function stageTasks(columns: Columns<StageHead>): StageTasks {
  const { head } = columns
  const of = (name: string): Column => columns.column(name) ?? new Float64Array(head.rows)
  const [duration, status] = [of('duration'), of('status')]
  const well: number[] = []
  for (let row = 0; row < head.rows; row++)
    if (duration[row]! >= 0 && head.statuses[status[row]!] === 'success') well.push(duration[row]!)
  return {
    head,
    rows: head.rows,
    begin: of('begin'),
    duration,
    executor: of('executor'),
    task: of('task'),
    input: of('input'),
    shuffle: of('shuffle_read'),
    status,
    cause: of('cause'),
    median: medianOf(well),
  }
}

export const timesMedian = (tasks: StageTasks, row: number): number =>
  tasks.median === 0 ? 0 : tasks.duration[row]! / tasks.median

/** A class of bars: its name in style.css, and what it means. The last is the most notable. */
export interface Level {
  readonly className: string
  readonly label: string
}

const BY_STATUS: readonly Level[] = [
  { className: 'fine', label: t('as long as the others') },
  { className: 'running', label: t('running') },
  { className: 'slow-bar', label: t('1.5 times the median or more') },
  { className: 'failed', label: t('failed, killed or lost') },
]
const TIMES = [1, 1.5, 2, 4] as const
const BY_DURATION: readonly Level[] = [
  { className: 'times-0', label: t('up to the median') },
  ...TIMES.slice(0, -1).map((from, i) => ({
    className: `times-${i + 1}`,
    label: t('{from} to {to} times the median', { from, to: TIMES[i + 1]! }),
  })),
  {
    className: `times-${TIMES.length}`,
    label: t('{from} times the median or more', { from: TIMES[TIMES.length - 1]! }),
  },
]

export type ColouredBy = 'status' | 'cause' | 'duration'

export function levelsOf(tasks: StageTasks, by: ColouredBy): readonly Level[] {
  if (by === 'status') return BY_STATUS
  if (by === 'duration') return BY_DURATION
  return tasks.head.causes.map((cause) =>
    cause === ''
      ? { className: 'cause-none', label: t('no cause is known') }
      : { className: `cause-${cause}`, label: word(cause) },
  )
}

export function levelOf(tasks: StageTasks, by: ColouredBy): (row: number) => number {
  if (by === 'cause') return (row) => tasks.cause[row]!
  if (by === 'duration') return (row) => TIMES.filter((from) => timesMedian(tasks, row) > from).length
  return (row) => {
    const status = tasks.head.statuses[tasks.status[row]!] ?? ''
    if (BAD.has(status)) return 3
    if (status === 'running') return 1
    return timesMedian(tasks, row) >= SLOW_TIMES ? 2 : 0
  }
}

/** With main causes that were found otherwise than the columns have them. */
export function withCauses(tasks: StageTasks, topics: ReadonlyMap<number, string>): StageTasks {
  const causes = ['', ...new Set(topics.values())]
  const cause = Uint8Array.from(tasks.task, (task) => causes.indexOf(topics.get(task) ?? ''))
  return { ...tasks, cause, head: { ...tasks.head, causes } }
}
