import { describe, expect, it } from 'vitest'
import { treeOf, type Calls } from './calls.ts'
import { MOST_ARROWS, crossingsOf } from './crossings.ts'

/** [parent, process] of each call. */
function callsOf(rows: readonly (readonly [number, number])[]): Calls {
  return {
    rows: rows.length,
    begin: Float64Array.from(rows, (_, i) => i),
    duration: Float64Array.from(rows, () => 10),
    parent: Int32Array.from(rows, ([parent]) => parent),
    process: Uint16Array.from(rows, ([, process]) => process),
  }
}

describe('calls that lead from one process to another', () => {
  // A client writes: to the NameNode, and through two DataNodes.
  const calls = callsOf([
    [-1, 0],
    [0, 0],
    [1, 1],
    [0, 0],
    [3, 2],
    [4, 3],
    [5, 3],
  ])
  const tree = treeOf(calls)

  it('are those on the way to a call, and those below it', () => {
    expect(crossingsOf(calls, tree, 4)).toEqual({
      above: [{ from: 3, to: 4 }],
      below: [{ from: 4, to: 5 }],
      belowTotal: 1,
    })
    expect(crossingsOf(calls, tree, 6).above).toEqual([
      { from: 4, to: 5 },
      { from: 3, to: 4 },
    ])
    expect(crossingsOf(calls, tree, 0).below.map(({ to }) => to)).toEqual([2, 4, 5])
    expect(crossingsOf(calls, tree, 1).below).toEqual([{ from: 1, to: 2 }])
  })

  it('are only the own ones of a call with too many below it', () => {
    const many = callsOf([
      [-1, 0],
      [0, 1],
      ...Array.from({ length: MOST_ARROWS }, (_, i): [number, number] => [1, 2 + i]),
    ])
    const all = crossingsOf(many, treeOf(many), 0)
    expect(all).toEqual({ above: [], below: [{ from: 0, to: 1 }], belowTotal: MOST_ARROWS + 1 })
    expect(crossingsOf(many, treeOf(many), 1).below.length).toBe(MOST_ARROWS)
  })

  it('are only the nearest ones above a call with too many', () => {
    const chain = callsOf(Array.from({ length: 200 }, (_, row): [number, number] => [row - 1, row % 2]))
    const { above } = crossingsOf(chain, treeOf(chain), 199)
    expect(above.length).toBe(MOST_ARROWS)
    expect(above[0]).toEqual({ from: 198, to: 199 })
  })
})
