// A rectangle of a chart's cells that keys choose: arrows move a cell, with Shift they extend it.

import { useState } from 'preact/hooks'

export interface GridCell {
  readonly x: number
  /** Upwards. */
  readonly y: number
}

export interface Cursor {
  /** Stays while the other one is moved with Shift. */
  readonly from: GridCell
  readonly to: GridCell
}

export interface Grid {
  readonly columns: number
  readonly rows: number
  /** Where the first key puts it. */
  readonly start: GridCell
}

const STEPS: Readonly<Record<string, GridCell>> = {
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  Home: { x: -Infinity, y: 0 },
  End: { x: Infinity, y: 0 },
}

const within = (at: number, count: number): number => Math.min(Math.max(at, 0), count - 1)

/** undefined: the key moves nothing. */
export function moveCursor(grid: Grid, before: Cursor | undefined, key: string, extend: boolean): Cursor | undefined {
  const step = STEPS[key]
  if (step === undefined) return undefined
  if (before === undefined) return { from: grid.start, to: grid.start }
  const to = { x: within(before.to.x + step.x, grid.columns), y: within(before.to.y + step.y, grid.rows) }
  return { from: extend ? before.from : to, to }
}

export interface CellRange {
  readonly left: number
  readonly right: number
  readonly low: number
  readonly high: number
}

/** Its first and last column and row. */
export const cellsOf = ({ from, to }: Cursor): CellRange => ({
  left: Math.min(from.x, to.x),
  right: Math.max(from.x, to.x),
  low: Math.min(from.y, to.y),
  high: Math.max(from.y, to.y),
})

interface Kept {
  readonly cells: string
  readonly cursor: Cursor | undefined
}

/** In another answer the same cells may be of other times, or not there. */
export const cursorOf = (kept: Kept | undefined, cells: string): Cursor | undefined =>
  kept?.cells === cells ? kept.cursor : undefined

/** cells: a text that differs when they are of something else. */
export function useCursor(cells: string): readonly [Cursor | undefined, (cursor: Cursor | undefined) => void] {
  const [kept, keep] = useState<Kept>()
  return [cursorOf(kept, cells), (cursor) => keep({ cells, cursor })]
}

/** What a key does in a chart: moves the rectangle, takes it, or leaves it. */
export function onCursorKey(
  event: KeyboardEvent,
  grid: Grid,
  cursor: Cursor | undefined,
  set: (cursor: Cursor | undefined) => void,
  take: (cursor: Cursor) => void,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const moved = moveCursor(grid, cursor, event.key, event.shiftKey)
  if (moved !== undefined) set(moved)
  else if (cursor === undefined) return
  else if (event.key === 'Enter') take(cursor)
  else if (event.key === 'Escape') set(undefined)
  else return
  event.preventDefault()
}
