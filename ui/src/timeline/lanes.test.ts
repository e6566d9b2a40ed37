import { expect, it } from 'vitest'
import { layLanes } from './lanes.ts'

it('gives what overlaps lanes of its own', () => {
  const bars = [
    { begin: 0, end: 10 },
    { begin: 5, end: 8 },
    { begin: 10, end: 20 },
    { begin: 6, end: 30 },
    { begin: 9, end: 12 },
  ]
  expect(layLanes(bars)).toEqual({ lanes: [0, 1, 0, 2, 1], count: 3 })
})

it.each([1, 2, 3])('never has two in one place (%s)', (seed) => {
  let state = seed
  const next = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state % below
  }
  const bars = Array.from({ length: 200 }, () => {
    const begin = next(1000)
    return { begin, end: begin + next(100) }
  })
  const { lanes } = layLanes(bars)
  bars.forEach((a, i) =>
    bars.slice(0, i).forEach((b, j) => {
      if (lanes[i] === lanes[j])
        expect(a.begin >= b.end || b.begin >= a.end || a.end === a.begin || b.end === b.begin).toBe(true)
    }),
  )
})
