import { describe, expect, it } from 'vitest'
import { pathOf, roundTicks } from '../marks/points.ts'
import { dataCsv, quotedCell } from './csv.ts'

describe('a cell of CSV', () => {
  it('is quoted where it must be', () => {
    expect(quotedCell('a,b')).toBe('"a,b"')
    expect(quotedCell('say "so"')).toBe('"say ""so"""')
    expect(quotedCell('plain')).toBe('plain')
  })
  it('is no formula, and a number stays one', () => {
    expect(quotedCell('=HYPERLINK("x")')).toBe(`"'=HYPERLINK(""x"")"`)
    expect(quotedCell('@sum')).toBe("'@sum")
    expect(quotedCell('-12.5 ms')).toBe('-12.5 ms')
    expect(quotedCell('+961 %')).toBe('+961 %')
  })
})

it('what a chart draws is CSV with numbers as they are', () => {
  const write = (value: number): string => `${value} ns`
  const rows = [
    ['=a,b', 1500000.25, undefined],
    ['c', 0, '× 2'],
  ]
  expect(dataCsv({ head: ['host', '10:00', '10:01'], unit: 'mean_ns', rows, write })).toBe(
    `host (mean_ns),10:00,10:01\r\n"'=a,b",1500000.25,\r\nc,0,× 2\r\n`,
  )
})

describe('a curve', () => {
  const at = (time: bigint): number => Number(time)
  const value = (of: number): number => of
  const points = [0n, 10n, 20n, 50n].map((time) => ({ time, value: 1 }))

  it('is broken where steps are missing, and a point alone is a dot', () => {
    expect(pathOf(points, 10, at, value)).toBe('M0.0 1.0L10.0 1.0L20.0 1.0M50.0 1.0h0.1')
  })
  it('has round ticks', () => {
    expect(roundTicks(7.3, 4)).toEqual([0, 2, 4, 6])
    expect(roundTicks(1.05, 4)).toEqual([0, 0.5, 1])
  })
})
