import { expect, it, vi } from 'vitest'
import { curveData, histogramData } from './data-of.ts'

// The zone is the browser's.
vi.mock('../app/choices.ts', () => ({ zone: { value: 'utc' } }))

it('curves are rows of all their times', () => {
  const points = (...times: number[]) => times.map((time) => ({ time: BigInt(time) * 1_000_000_000n, value: time }))
  const lines = [
    { label: 'a', className: '', points: points(0, 120) },
    { label: 'b', className: '', points: points(60) },
  ]
  const data = curveData(lines, 'ns', String)
  expect(data.head).toEqual(['time', 'a', 'b'])
  expect(data.rows).toEqual([
    ['1970-01-01 00:00:00', 0, undefined],
    ['1970-01-01 00:01:00', undefined, 60],
    ['1970-01-01 00:02:00', 120, undefined],
  ])
})

it('a histogram is a row for each bin', () => {
  const layers = [{ label: 'all', className: '', shares: [0.25, 0.75] }]
  const data = histogramData([1, 2, 4], layers, (edge) => `${edge} ms`)
  expect(data.rows).toEqual([
    ['1 ms to 2 ms', 0.25],
    ['2 ms to 4 ms', 0.75],
  ])
  expect(data.write(0.25)).toBe('25.0 %')
})
