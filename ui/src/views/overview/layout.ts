// The map of hosts and time as it is drawn: its rows, steps and sizes. Computed once for each answer: of 3,000 hosts it has
// some hundred thousand cells.

import type { MapAnswer, MapRow } from '../../api/series.ts'
import type { Scheme } from './colours.ts'
import { keptFor, mediansOf, peerShare } from './slow.ts'

const LEFT = 190
const LEFT_NARROW = 96
const NARROW = 600
export const RIGHT = 70
export const BOTTOM = 24
export const ROW_PX = 20
const THIN_ROW_PX = 3
/** More rows are thin lines without names. */
const MOST_NAMED = 60

/** Names of hosts take no more than a quarter of a telephone. */
export const leftOf = (width: number): number => (width < NARROW ? LEFT_NARROW : LEFT)

export interface Cell {
  readonly row: number
  readonly step: number
}

/** Its name in addresses: with the time at which its step begins, since a step's number is another time's a minute on. */
export const cellName = (answer: MapAnswer, host: string, step: number): string => `${host}@${timeOfStep(answer, step)}`

/** None: the name is no cell's, or its time or host is not shown. */
export function cellNamed(answer: MapAnswer, name: string): Cell | undefined {
  const [host, begin] = name.split('@')
  const row = answer.series.findIndex((one) => one.host === host)
  if (row < 0 || begin === undefined || !/^\d{1,19}$/.test(begin)) return undefined
  const passed = BigInt(begin) - answer.since_time_ns!
  const step = Number(passed / BigInt(answer.step_ns!))
  return passed < 0n || step >= layoutOf(answer).steps ? undefined : { row, step }
}

export interface Layout {
  readonly rows: readonly MapRow[]
  readonly steps: number
  readonly rowPx: number
  /** By step. */
  readonly medians: readonly (number | undefined)[]
  readonly most: number
}

function greatest(values: ArrayLike<number>, least: number): number {
  let most = least
  for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!
  return most
}

export const layoutOf = keptFor((answer: MapAnswer): Layout => {
  const since = answer.since_time_ns ?? 0n
  const until = answer.until_time_ns ?? 0n
  const steps = Math.max(1, Math.round(Number(until - since) / (answer.step_ns ?? 1)))
  return {
    rows: answer.series,
    steps,
    rowPx: answer.series.length > MOST_NAMED ? THIN_ROW_PX : ROW_PX,
    medians: mediansOf(answer),
    most: answer.series.reduce((most, row) => greatest(row.values, most), 1),
  }
})

/** Of a cell of an answer before this one, which may have had more rows or steps. */
export const stillThere = (layout: Layout, cell: Cell | undefined): Cell | undefined =>
  cell !== undefined && cell.row < layout.rows.length && cell.step < layout.steps ? cell : undefined

export const cellWidth = (layout: Layout, width: number): number => (width - leftOf(width) - RIGHT) / layout.steps

export function cellValue(row: MapRow, step: number): { value: number; calls: number } | undefined {
  for (let i = 0; i < row.at.length; i++) if (row.at[i] === step) return { value: row.values[i]!, calls: row.calls[i]! }
  return undefined
}

/** From -1 to 1 against peers, from 0 to 1 absolute. */
export function shareOf(layout: Layout, scheme: Scheme, step: number, of: number): number {
  if (scheme === 'absolute') return Math.log1p(of) / Math.log1p(layout.most)
  return peerShare(of / Math.max(layout.medians[step] ?? of, 1))
}

/** The begin of a step, or the end of the period. */
export function timeOfStep(answer: MapAnswer, step: number): bigint {
  const at = answer.since_time_ns! + BigInt(step) * BigInt(answer.step_ns!)
  return at < answer.until_time_ns! ? at : answer.until_time_ns!
}
