import { expect, it } from 'vitest'
import { cellsOf, cursorOf, moveCursor, type Cursor } from './cursor.ts'

const GRID = { columns: 4, rows: 3, start: { x: 3, y: 1 } }

function after(...keys: string[]): Cursor | undefined {
  return keys.reduce<Cursor | undefined>(
    (cursor, key) => moveCursor(GRID, cursor, key.replace('Shift+', ''), key.startsWith('Shift+')),
    undefined,
  )
}

it('a rectangle begins at its place, is moved as a cell, and is extended with Shift', () => {
  expect(after('ArrowLeft')).toEqual({ from: GRID.start, to: GRID.start })
  expect(after('ArrowLeft', 'ArrowLeft', 'ArrowUp')).toEqual({ from: { x: 2, y: 2 }, to: { x: 2, y: 2 } })
  const wide = after('ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowDown')!
  expect(cellsOf(wide)).toEqual({ left: 1, right: 3, low: 0, high: 1 })
  expect(moveCursor(GRID, wide, 'ArrowUp', false)).toEqual({ from: { x: 1, y: 1 }, to: { x: 1, y: 1 } })
})

it('a rectangle stays within the chart', () => {
  expect(after('End', 'End', 'ArrowRight')!.to).toEqual({ x: 3, y: 1 })
  expect(cellsOf(after('End', 'Shift+Home', 'Shift+ArrowUp', 'Shift+ArrowUp')!)).toEqual({
    left: 0,
    right: 3,
    low: 1,
    high: 2,
  })
  expect(moveCursor(GRID, undefined, 'a', false)).toBeUndefined()
})

it('a rectangle is of the cells it was made in', () => {
  const kept = { cells: '0 60', cursor: after('ArrowLeft') }
  expect(cursorOf(kept, '0 60')).toBe(kept.cursor)
  expect(cursorOf(kept, '0 120')).toBeUndefined()
  expect(cursorOf(undefined, '0 60')).toBeUndefined()
})
