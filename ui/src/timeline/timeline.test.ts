import { describe, expect, it } from 'vitest'
import { RUN_FROM, countBelow, hasChildren, runSum, shownRows } from './rows.ts'
import { clampZoom, formatZoom, pan, parseZoom, placeIn, zoomAround } from './zoom.ts'

/** Of the depths 0 1 2 2 1 0 1. */
const ENDS = [5, 4, 3, 4, 5, 7, 7]

describe('rows', () => {
  it('leave out what is folded', () => {
    const shown = (...folded: number[]): readonly number[] =>
      shownRows({ ends: ENDS, isFolded: (row) => folded.includes(row) }).rows
    expect(shown()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(shown(1)).toEqual([0, 1, 4, 5, 6])
    expect(shown(0, 1)).toEqual([0, 5, 6])
  })
  it('leave out what is hidden', () => {
    const hidden = Uint8Array.from([0, 1, 1, 1, 0, 0, 0])
    expect(shownRows({ ends: ENDS, isFolded: () => false, hidden }).rows).toEqual([0, 4, 5, 6])
  })
  it('put equal siblings together', () => {
    // A caller; eight calls of one function, the second of which calls another; one more of the other.
    const parent = [-1, 0, 0, 2, ...Array.from({ length: 6 }, () => 0), 0]
    const kinds = parent.map((_, row) => (row === 3 || row === 10 ? 2 : 1))
    const ends = parent.map((_, row) => (row === 0 ? parent.length : row === 2 ? 4 : row + 1))
    const shown = (open: boolean, hidden?: Uint8Array) =>
      shownRows({
        ends,
        isFolded: () => false,
        hidden,
        runs: { parent, kindOf: (row) => kinds[row]!, isOpen: () => open },
      })
    const run = { first: 1, calls: RUN_FROM, end: 10 }
    expect(shown(false)).toEqual({ rows: [0, 1, 10], runs: new Map([[1, run]]) })
    expect(shown(true)).toEqual({ rows: parent.map((_, row) => row), runs: new Map([[1, run]]) })
    const withoutOne = Uint8Array.from(parent, (_, row) => Number(row === 5))
    expect(shown(false, withoutOne).runs.size).toBe(0)
  })
  it('put together are summed without what is left out', () => {
    // Eight calls of 1 ms, with others of 50 ms between them that are left out.
    const parent = [-1, ...Array.from({ length: 15 }, () => 0)]
    const isOther = (row: number): boolean => row > 0 && row % 2 === 0
    const ends = parent.map((_, row) => (row === 0 ? parent.length : row + 1))
    const hidden = Uint8Array.from(parent, (_, row) => Number(isOther(row)))
    const { runs } = shownRows({
      ends,
      isFolded: () => false,
      hidden,
      runs: { parent, kindOf: (row) => Number(isOther(row)), isOpen: () => false },
    })
    const calls = {
      rows: parent.length,
      parent: Int32Array.from(parent),
      process: new Uint16Array(parent.length),
      begin: Float64Array.from(parent, (_, row) => row * 50),
      duration: Float64Array.from(parent, (_, row) => (isOther(row) ? 50 : 1)),
    }
    expect(runs.get(1)!.calls).toBe(8)
    expect(runSum(calls, ends, runs.get(1)!, hidden)).toEqual({ total: 8, longest: 1, begin: 50, end: 751 })
  })
  it('know what is below', () => {
    expect(ENDS.map((_, i) => countBelow(ENDS, i))).toEqual([4, 2, 0, 0, 0, 1, 0])
    expect(ENDS.map((_, i) => hasChildren(ENDS, i))).toEqual([true, true, false, false, false, true, false])
  })
})

describe('zoom', () => {
  it('stays within the trace', () => {
    expect(clampZoom({ from: -50, to: 50 }, 1000)).toEqual({ from: 0, to: 100 })
    expect(clampZoom({ from: 950, to: 1050 }, 1000)).toEqual({ from: 900, to: 1000 })
    expect(pan({ from: 0, to: 500 }, 5, 1000)).toEqual({ from: 500, to: 1000 })
  })
  it('keeps the point it is around', () => {
    expect(zoomAround({ from: 0, to: 1000 }, 250, 0.5, 1000)).toEqual({ from: 125, to: 625 })
    expect(zoomAround({ from: 100, to: 200 }, 150, 100, 1000)).toEqual({ from: 0, to: 1000 })
  })
  it('is the same after a round trip', () => {
    expect(parseZoom('125,625', 1000)).toEqual({ from: 125, to: 625 })
    expect(formatZoom({ from: 125, to: 625 }, 1000)).toBe('125,625')
    expect(formatZoom(parseZoom(undefined, 1000), 1000)).toBeUndefined()
    expect(parseZoom('9,x', 1000)).toEqual({ from: 0, to: 1000 })
  })
  it('places spans', () => {
    expect(placeIn({ from: 100, to: 200 }, 150, 25)).toEqual({ x: 0.5, width: 0.25 })
    expect(placeIn({ from: 100, to: 200 }, 50, 500)).toEqual({ x: 0, width: 1 })
    expect(placeIn({ from: 100, to: 200 }, 0, 50)).toBeUndefined()
    expect(placeIn({ from: 100, to: 200 }, 150, -25)).toEqual({ x: 0.5, width: 0 })
  })
})
