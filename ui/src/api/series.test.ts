import { expect, it } from 'vitest'
import { seriesOf } from './series.ts'

it('gives each row its piece of the columns', () => {
  const columns: Readonly<Record<string, Uint8Array | Float64Array>> = {
    at: Uint8Array.of(0, 2, 1),
    values: Float64Array.of(10, 2 ** 40, 30),
    calls: Uint8Array.of(1, 2, 3),
  }
  const row = { function: 'f', role: 'datanode' }
  const head = {
    rows: 3,
    columns: [],
    field: 'mean_ns',
    series: [
      { ...row, host: 'a', points: 2 },
      { ...row, host: 'b', points: 0 },
      { ...row, host: 'c', points: 1 },
    ],
  }
  const parts = { head, buffer: new ArrayBuffer(0), column: (name: string) => columns[name] }
  const answer = seriesOf(parts)
  const lists = answer.series.map((one) => [
    one.host,
    ...[one.at, one.values, one.calls].map((list) => Array.from(list)),
  ])
  expect(lists).toEqual([
    ['a', [0, 2], [10, 2 ** 40], [1, 2]],
    ['b', [], [], []],
    ['c', [1], [30], [3]],
  ])
  expect(() => seriesOf({ ...parts, column: (name) => (name === 'calls' ? undefined : columns[name]) })).toThrow(
    'calls',
  )
  expect(() => seriesOf({ ...parts, head: { ...head, rows: 4 } })).toThrow('rows')
})
