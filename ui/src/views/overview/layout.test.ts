import { expect, test } from 'vitest'
import type { SeriesAnswer } from '../../api/answers.ts'
import { cellName, cellNamed, layoutOf, stillThere } from './layout.ts'

const answerFrom = (since: bigint): SeriesAnswer =>
  ({
    since_time_ns: since,
    until_time_ns: since + 600n,
    step_ns: 60,
    series: ['dn1', 'dn2'].map((host) => ({ host, at: [], values: [], calls: [] })),
  }) as unknown as SeriesAnswer

test('a cell keeps its time while the period goes on', () => {
  const name = cellName(answerFrom(1_000n), 'dn2', 3)
  expect(name).toBe('dn2@1180')
  expect(cellNamed(answerFrom(1_000n), name)).toEqual({ row: 1, step: 3 })
  expect(cellNamed(answerFrom(1_060n), name)).toEqual({ row: 1, step: 2 })
  expect(cellNamed(answerFrom(1_240n), name)).toBeUndefined()
})

test('a cell that a later answer does not have is none', () => {
  const layout = layoutOf(answerFrom(1_000n))
  expect(stillThere(layout, { row: 1, step: 9 })).toEqual({ row: 1, step: 9 })
  for (const cell of [{ row: 2, step: 9 }, { row: 1, step: 10 }, undefined])
    expect(stillThere(layout, cell)).toBeUndefined()
})

test('what names no cell chooses none', () => {
  for (const name of ['', 'dn1', 'dn3@1000', 'dn1@x', 'dn1@-60', 'dn1@1600', 'dn1@3'])
    expect(cellNamed(answerFrom(1_000n), name)).toBeUndefined()
})
