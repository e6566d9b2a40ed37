import { expect, it } from 'vitest'
import { axisOf } from './axis.ts'

it('is in proportion while most values are told apart', () => {
  const axis = axisOf({ least: 10, typical: 100, most: 1000 })
  expect(axis.logarithmic).toBe(false)
  expect(axis.place(500)).toBeCloseTo(2 * axis.place(250))
  expect(axis.place(0)).toBe(0)
  expect(axis.ticks).toEqual([0, 500, 1000])
})

it('goes by powers where a few are far from the others', () => {
  const axis = axisOf({ least: 10, typical: 20, most: 100_000 })
  expect(axis.logarithmic).toBe(true)
  expect(axis.place(1000) - axis.place(100)).toBeCloseTo(axis.place(100_000) - axis.place(10_000))
  expect([axis.place(0), axis.place(-1), axis.place(1e9)]).toEqual([0, 0, 1])
  expect(axis.ticks).toEqual([10, 100, 1000, 10_000, 100_000])
})

it('has ticks between powers where there are few powers', () => {
  expect(axisOf({ least: 90, typical: 10, most: 600 }).ticks).toEqual([100, 200, 500])
})

it('stands without values', () => {
  const axis = axisOf({ least: 0, typical: 0, most: 0 })
  expect(axis.place(0)).toBe(0)
})
