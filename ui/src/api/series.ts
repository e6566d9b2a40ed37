// Figures of many hosts over time. They come as columns (docs/api.md, "series/columns"): of 3,000 hosts and 120 steps,
// lists of digits would take longer to read than to draw.

import type { SeriesAnswer, SeriesRow } from './answers.ts'
import { askColumns, type Column, type Columns, type ColumnsHead } from './columns.ts'

/** Lists of rows may be pieces of a column, which have few methods in common with arrays. */
export type MapRow = SeriesRow<ArrayLike<number>>
export type MapAnswer = SeriesAnswer<ArrayLike<number>>

export interface SeriesHead extends ColumnsHead, Omit<SeriesAnswer, 'series'> {
  /** points: how many rows of the columns are its own, behind those of the series before it. */
  readonly series: readonly (Omit<SeriesRow, 'at' | 'values' | 'calls'> & { readonly points: number })[]
}

export function seriesOf(columns: Columns<SeriesHead>): MapAnswer {
  const of = (name: string): Column => {
    const column = columns.column(name)
    if (column === undefined) throw new Error(`the answer has no ${name}`)
    return column
  }
  const [at, values, calls] = [of('at'), of('values'), of('calls')]
  let end = 0
  const series = columns.head.series.map((one): MapRow => {
    const begin = end
    end += one.points
    return {
      ...one,
      at: at.subarray(begin, end),
      values: values.subarray(begin, end),
      calls: calls.subarray(begin, end),
    }
  })
  if (end !== columns.head.rows) throw new Error('the answer has other rows than its series')
  return { ...columns.head, series }
}

export const askSeries = async (path: string, signal: AbortSignal): Promise<MapAnswer> =>
  seriesOf(await askColumns<SeriesHead>(path, signal))
