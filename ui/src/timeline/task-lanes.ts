// Tasks of a stage in lanes of their executors, for stages of any size: a lane is a slot, its tasks lie one behind the
// other. What is narrower than a pixel becomes a run, with the level of its longest task. No DOM.

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
}

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
  return { lanes, end }
}

export interface TaskRun {
  readonly begin: number
  readonly end: number
  /** Of its longest task. */
  readonly level: number
}

/** Of one lane. Tasks narrower than 'leastNs' that begin in the same cell of that width are one run. */
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
      last.end = begin + length
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
