import { expect, it, vi } from 'vitest'
import type { Usual } from './usual.ts'
import { wantedOf } from './shown.ts'

// The address is the browser's.
vi.mock('../../app/address.ts', () => ({}))

it('calls are asked for by what is known of them', () => {
  const critical = Float64Array.from([5, 0, 5])
  const found = new Set([0, 1])
  const usual = { isSlow: (row: number) => row === 1 } as unknown as Usual
  const wanted = (marks: Partial<Parameters<typeof wantedOf>[0]>): number[] | undefined => {
    const isWanted = wantedOf({ only: 'all', critical, found, usual, ...marks })
    return isWanted && [0, 1, 2].filter(isWanted)
  }
  expect(wanted({ found: undefined })).toBeUndefined()
  expect(wanted({})).toEqual([0, 1])
  expect(wanted({ only: 'critical' })).toEqual([0])
  expect(wanted({ only: 'slow' })).toEqual([1])
  expect(wanted({ only: 'critical', critical: undefined })).toEqual([0, 1])
  expect(wanted({ only: 'slow', usual: undefined, found: undefined })).toBeUndefined()
})
