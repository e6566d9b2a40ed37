// What tasks read against what they took: which of the slow ones only had more to do. No DOM.

import { medianOf } from './median.ts'
import { SLOW_TIMES, type StageTasks } from './tasks.ts'

export const AMOUNTS = ['all', 'input', 'shuffle'] as const
export type Amount = (typeof AMOUNTS)[number]

export interface Amounts {
  /** Of which both are known, by amount. */
  readonly rows: readonly number[]
  readonly amount: (row: number) => number
  /** Of those that ended well. */
  readonly median: number
  readonly slow: number
  /** Of the slow ones: their time is in proportion to what they read. */
  readonly inProportion: number
}

const known = (value: number): number => Math.max(0, value)

/** What the duration would be, were it in proportion to what is read. */
export const expectedOf = (of: Amounts, tasks: StageTasks, amount: number): number =>
  of.median > 0 ? (tasks.median * amount) / of.median : tasks.median

export const hasOf = (tasks: StageTasks, kind: 'input' | 'shuffle'): boolean => tasks[kind].some((value) => value > 0)

export function amountsOf(tasks: StageTasks, kind: Amount): Amounts {
  const columns = kind === 'all' ? [tasks.input, tasks.shuffle] : [tasks[kind]]
  const isKnown = (row: number): boolean => tasks.duration[row]! >= 0 && columns.some((column) => column[row]! >= 0)
  const amount = (row: number): number => columns.reduce((sum, column) => sum + known(column[row]!), 0)
  const rows = Array.from({ length: tasks.rows }, (_, row) => row)
    .filter(isKnown)
    .sort((a, b) => amount(a) - amount(b))
  const well = rows.filter((row) => tasks.head.statuses[tasks.status[row]!] === 'success')
  const median = medianOf(well.map(amount))
  // As plumbd has it: where most take no time at all, those that do take some are slow.
  const isSlow = (row: number): boolean => tasks.duration[row]! > 0 && tasks.duration[row]! >= SLOW_TIMES * tasks.median
  const slow = well.filter(isSlow)
  const found = { rows, amount, median, slow: slow.length, inProportion: 0 }
  const fits = (row: number): boolean => tasks.duration[row]! < SLOW_TIMES * expectedOf(found, tasks, amount(row))
  return { ...found, inProportion: slow.filter(fits).length }
}
