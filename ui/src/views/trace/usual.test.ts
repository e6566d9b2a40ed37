import { expect, it } from 'vitest'
import type { FunctionRow } from '../../api/answers.ts'
import type { Trace } from './model.ts'
import { Usual } from './usual.ts'

const MS = 1_000_000

it('calls are slow above the range in which the 95th of 100 lies', () => {
  const durations = [3, 3, 3.01, 3.1].map((ms) => ms * MS)
  const trace = {
    rows: durations.length,
    head: { processes: [{ process: 'dn1', role: 'datanode' }], functions: ['read'] },
    function: Uint16Array.from(durations, () => 0),
    calls: { duration: Float64Array.from(durations), process: Uint16Array.from(durations, () => 0) },
  } as unknown as Trace
  const usual = (calls: number): readonly number[] =>
    new Usual(trace, [{ function: 'read', role: 'datanode', calls, q95_ns: 2.99 * MS } as FunctionRow]).rows
  expect(usual(100)).toEqual([3])
  expect(usual(19)).toEqual([])
})
