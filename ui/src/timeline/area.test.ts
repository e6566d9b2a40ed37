import { describe, expect, it } from 'vitest'
import { sumArea } from './area.ts'
import { treeOf, type Calls } from './calls.ts'

function callsOf(rows: readonly (readonly [begin: number, duration: number, parent: number])[]): Calls {
  return {
    rows: rows.length,
    begin: Float64Array.from(rows, (row) => row[0]),
    duration: Float64Array.from(rows, (row) => row[1]),
    parent: Int32Array.from(rows, (row) => row[2]),
    process: Uint16Array.from(rows, (_, i) => (i === 2 ? 1 : 0)),
  }
}

const CALLS = callsOf([
  [0, 100, -1],
  [10, 40, 0],
  [20, 10, 1],
  [40, 40, 0], // overlaps the first one it calls
])
const FUNCTIONS = [0, 1, 1, 2]

describe('an area', () => {
  it('has the self time of the whole, when it is the whole', () => {
    const sums = sumArea(CALLS, FUNCTIONS, { from: 0, to: 100 })
    const { self } = treeOf(CALLS)
    expect(sums.reduce((all, sum) => all + sum.self, 0)).toBe(self.reduce((a, b) => a + b))
    expect(sums.map((sum) => [sum.function, sum.process, sum.calls, sum.self])).toEqual([
      [2, 0, 1, 40],
      [0, 0, 1, 30],
      [1, 0, 1, 30],
      [1, 1, 1, 10],
    ])
  })
  it('has what lies in it', () => {
    expect(sumArea(CALLS, FUNCTIONS, { from: 5, to: 25 }).map((sum) => [sum.function, sum.process, sum.self])).toEqual([
      [1, 0, 10],
      [0, 0, 5],
      [1, 1, 5],
    ])
    expect(sumArea(CALLS, FUNCTIONS, { from: 100, to: 200 })).toEqual([])
  })
  it('splits without a rest', () => {
    for (let cut = 1; cut < 100; cut += 7) {
      const parts = [
        ...sumArea(CALLS, FUNCTIONS, { from: 0, to: cut }),
        ...sumArea(CALLS, FUNCTIONS, { from: cut, to: 100 }),
      ]
      expect(parts.reduce((all, sum) => all + sum.self, 0)).toBe(110)
    }
  })
})
