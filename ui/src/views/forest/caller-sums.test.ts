import { expect, it } from 'vitest'
import type { Pattern, PatternNode } from '../../api/answers.ts'
import { callersOf } from './caller-sums.ts'

const node = (depth: number, name: string, calls: number): PatternNode =>
  ({
    depth,
    function: name,
    role: 'client',
    calls,
    total_ns: 10 * calls,
    self_ns: calls,
    critical_ns: 2 * calls,
  }) as unknown as PatternNode
const pattern = (...nodes: PatternNode[]): Pattern => ({ nodes }) as unknown as Pattern

it('callers are summed over all trees', () => {
  const patterns = [
    pattern(node(0, 'a', 1), node(1, 'x', 3), node(1, 'b', 1), node(2, 'x', 5)),
    pattern(node(0, 'x', 2), node(1, 'x', 1)),
    pattern(node(0, 'b', 4), node(1, 'x', 7)),
  ]
  expect(callersOf(patterns, 'x').map((one) => [one.function, one.calls, one.total_ns, one.critical_ns])).toEqual([
    ['b', 12, 120, 24],
    ['a', 3, 30, 6],
    [undefined, 2, 20, 4],
    ['x', 1, 10, 2],
  ])
  expect(callersOf(patterns, 'y')).toEqual([])
})
