// Tasks of a stage in lanes of their executors, for stages of any size: a lane is a slot, its tasks lie one behind the
// other. What is narrower than a pixel becomes a run, with the level of its longest task. Where there are more lanes than
// there is height for, several are one row. No DOM.

import { layLanes } from './lanes.ts'

export interface TaskTimes {
  /** ns from the first begin; below 0: unknown. */
  readonly begin: ArrayLike<number>
  /** ns; below 0: it has no end. */
  readonly duration: ArrayLike<number>
  readonly executor: ArrayLike<number>
  readonly rows: number
}

export interface TaskLane {
  readonly executor: number
  /** Rows, by begin. */
  readonly tasks: readonly number[]
}

export interface LaidTasks {
  readonly lanes: readonly TaskLane[]
  readonly end: number
  /** As they are drawn: each has so many lanes, one behind the other, and the executor of its first. */
  readonly rows: readonly TaskLane[]
  readonly lanesOfRow: number
  /** Pixels. */
  readonly rowHeight: number
}

/** Pixels. Browsers draw nothing on a canvas of more than 32,767, on the finest screens eight of them for one. */
const HEIGHT = { usual: 480, most: 3_960 }
const ROW_HEIGHT = { most: 14, least: 2 }

const isDrawn = (times: TaskTimes, row: number): boolean => times.begin[row]! >= 0 && times.duration[row]! >= 0
export const endOf = (times: TaskTimes, row: number): number => times.begin[row]! + times.duration[row]!

/** order: the executors from above to below. */
export function layTasks(times: TaskTimes, order: readonly number[]): LaidTasks {
  const of = new Map<number, number[]>(order.map((executor) => [executor, []]))
  let end = 1
  for (let row = 0; row < times.rows; row++) {
    if (!isDrawn(times, row)) continue
    of.get(times.executor[row]!)?.push(row)
    end = Math.max(end, endOf(times, row))
  }
  const lanes = order.flatMap((executor): TaskLane[] => {
    const rows = of.get(executor)!.sort((a, b) => times.begin[a]! - times.begin[b]!)
    const laid = layLanes(rows.map((row) => ({ begin: times.begin[row]!, end: endOf(times, row) })))
    const parts = Array.from({ length: laid.count }, (): number[] => [])
    rows.forEach((row, i) => parts[laid.lanes[i]!]!.push(row))
    return parts.map((tasks) => ({ executor, tasks }))
  })
  return { lanes, end, ...rowsOf(times, lanes) }
}

function rowsOf(times: TaskTimes, lanes: readonly TaskLane[]): Pick<LaidTasks, 'rows' | 'lanesOfRow' | 'rowHeight'> {
  const lanesOfRow = Math.max(1, Math.ceil(lanes.length / (HEIGHT.most / ROW_HEIGHT.least)))
  const byBegin = (a: number, b: number): number => times.begin[a]! - times.begin[b]!
  const rows: TaskLane[] = []
  for (let first = 0; first < lanes.length; first += lanesOfRow) {
    const tasks = lanes.slice(first, first + lanesOfRow).flatMap((lane) => lane.tasks)
    rows.push(lanesOfRow === 1 ? lanes[first]! : { executor: lanes[first]!.executor, tasks: tasks.sort(byBegin) })
  }
  const room = Math.floor(HEIGHT.usual / Math.max(1, rows.length))
  return { rows, lanesOfRow, rowHeight: Math.min(ROW_HEIGHT.most, Math.max(ROW_HEIGHT.least, room)) }
}

export interface TaskRun {
  readonly begin: number
  readonly end: number
  /** Of its longest task. */
  readonly level: number
}

/** Of one lane or row. Tasks narrower than 'leastNs' that begin in the same cell of that width are one run. */
export function runsOf(times: TaskTimes, lane: TaskLane, leastNs: number, levelOf: (row: number) => number): TaskRun[] {
  const runs: { begin: number; end: number; level: number }[] = []
  let [cell, longest] = [-1, 0]
  for (const row of lane.tasks) {
    const [begin, length] = [times.begin[row]!, times.duration[row]!]
    const at = length < leastNs ? Math.floor(begin / leastNs) : -1
    const last = runs[runs.length - 1]
    if (last === undefined || at < 0 || at !== cell) {
      runs.push({ begin, end: begin + length, level: levelOf(row) })
      longest = length
    } else {
      last.end = Math.max(last.end, begin + length)
      if (length > longest) [longest, last.level] = [length, levelOf(row)]
    }
    cell = at
  }
  return runs
}

/** The task at a time, or the nearest one of the lane. */
export function taskAt(times: TaskTimes, lane: TaskLane, at: number): number | undefined {
  let [low, high] = [0, lane.tasks.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (times.begin[lane.tasks[middle]!]! <= at) low = middle
    else high = middle - 1
  }
  const row = lane.tasks[low]
  const next = lane.tasks[low + 1]
  if (row === undefined || next === undefined || endOf(times, row) >= at) return row
  return times.begin[next]! - at < at - endOf(times, row) ? next : row
}

/** The longest task at a time in some lanes, or the nearest one. */
export function taskIn(times: TaskTimes, lanes: readonly TaskLane[], at: number): number | undefined {
  const away = (row: number): number => Math.max(0, times.begin[row]! - at, at - endOf(times, row))
  return lanes
    .flatMap((lane) => taskAt(times, lane, at) ?? [])
    .sort((a, b) => away(a) - away(b) || times.duration[b]! - times.duration[a]!)[0]
}
