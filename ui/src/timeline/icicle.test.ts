import { describe, expect, it } from 'vitest'
import { endOf, layIcicle, weights, type IcicleNode } from './icicle.ts'

const node = (depth: number, total: number, self: number, critical: number, calls = 1): IcicleNode => ({
  depth,
  calls,
  total_ns: total,
  self_ns: self,
  critical_ns: critical,
})
const TREE = [node(0, 100, 20, 20), node(1, 80, 30, 25), node(2, 50, 50, 35), node(1, 60, 60, 20)]

/** A tree of any shape; the same for the same seed. */
function anyTree(seed: number): IcicleNode[] {
  let state = seed
  const next = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
  const nodes = [node(0, 1000, next(500), next(500))]
  for (let i = 1; i < 60; i++)
    nodes.push(node(1 + next(nodes[i - 1]!.depth + 1), next(1000), next(500), next(500), 1 + next(9)))
  return nodes
}

describe('icicle', () => {
  it('adds up what is below', () => {
    expect(weights(TREE, 'critical')).toEqual([100, 60, 35, 20])
    expect(weights(TREE, 'self')).toEqual([160, 80, 50, 60])
    expect(weights(TREE, 'calls')).toEqual([4, 2, 1, 1])
    expect(weights(TREE, 'total')).toEqual([100, 80, 50, 60])
    const some = TREE.map((one, i) => (i % 2 === 0 ? one : { ...one, bytes: { total_bytes: 10 * i } }))
    expect(weights(some, 'bytes')).toEqual([40, 10, 0, 30])
  })
  it('scales children that ran side by side to their parent', () => {
    const cells = layIcicle(TREE, 'total', -1, 0)
    expect(cells.map(({ x, width }) => [Math.round(x * 140), Math.round(width * 140)])).toEqual([
      [0, 140],
      [0, 80],
      [0, 50],
      [80, 60],
    ])
  })
  it('begins at the focus', () => {
    expect(layIcicle(TREE, 'critical', 1, 0)).toEqual([
      { node: 1, depth: 0, x: 0, width: 1 },
      { node: 2, depth: 1, x: 0, width: 35 / 60 },
    ])
  })
  it.each([1, 2, 3, 4, 5])('never overlaps, and keeps children within their parent (%s)', (seed) => {
    const nodes = anyTree(seed)
    for (const width of ['critical', 'total', 'self', 'calls'] as const) {
      const cells = layIcicle(nodes, width, -1, 0)
      expect(cells.length).toBe(nodes.length)
      const ends = new Map<number, number>()
      for (const cell of cells) {
        expect(cell.x).toBeGreaterThanOrEqual((ends.get(cell.depth) ?? 0) - 1e-9)
        ends.set(cell.depth, cell.x + cell.width)
        const parent = cells.findLast((other) => other.node < cell.node && other.depth === cell.depth - 1)
        if (parent !== undefined && endOf(nodes, parent.node) > cell.node)
          expect(cell.x + cell.width).toBeLessThanOrEqual(parent.x + parent.width + 1e-9)
      }
    }
  })
})
