import { expect, it, vi } from 'vitest'
import type { FindAnswer, NoteTimes, Trace } from './model.ts'
import { criticalOf, foundOf, noteTimesOf, wantedOf } from './shown.ts'
import type { Usual } from './usual.ts'

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

it('what is known of rows is that of the same rows', () => {
  const head = { trace: 'a', spans_total: 2 }
  const trace = { head, rows: 2 } as unknown as Trace
  const critical = Float64Array.from([5, 0])
  const known = (of: object): unknown[] => [
    noteTimesOf(trace, { of } as NoteTimes),
    foundOf(trace, of as FindAnswer),
    criticalOf(trace, { of: of as FindAnswer, rows: 2, critical }),
  ]
  expect(known({ ...head })).toEqual([{ of: head }, head, critical])
  const none = [undefined, undefined, undefined]
  expect(known({ ...head, trace: 'b' })).toEqual(none)
  expect(known({ ...head, spans_total: 3 })).toEqual(none)
  expect(known({ ...head, parts: 3, first_part: 2, parts_shown: 1 })).toEqual(none)
  expect(noteTimesOf(trace, undefined)).toBeUndefined()
})
