import { describe, expect, it } from 'vitest'
import SOURCE from '../../../tests/cli/test_units.c?raw'
import * as units from './units.ts'

/** The rows of a table in `plumb`'s own test. */
function table(name: string): string[][] {
  const body = new RegExp(`static void test_${name}\\(void\\) \\{[^]*?cases\\[\\] = \\{([^]*?)\\};`).exec(SOURCE)?.[1]
  const rows = [...(body ?? '').matchAll(/\{([^{}]+)\}/g)]
  return rows.map((row) => [...row[1]!.matchAll(/"[^"]*"|[^",\s][^",]*/g)].map((cell) => cell[0].trim()))
}

function number(text: string): number {
  const named = text.replaceAll('MS', '1000000')
  return named.split('*').reduce((product, factor) => {
    const [above, below] = factor.split('/')
    return (product * Number(above)) / Number(below ?? 1)
  }, 1)
}

const plain = (text: string): string => text.slice(1, -1)

describe("plumb's cases", () => {
  it.each(table('durations'))('duration of %s in steps of %s is %s', (ns, resolution, text) => {
    expect(units.duration(number(ns), number(resolution))).toBe(plain(text))
  })
  it.each(table('age'))('age of %s s is %s', (s, text) => {
    expect(units.age(number(s) * 1e9)).toBe(plain(text))
  })
  it.each(table('mean_resolution'))('resolution %s of %s calls is %s', (resolution, calls, expected) => {
    expect(units.meanResolution(number(resolution), number(calls))).toBe(number(expected))
  })
  const formats: Record<string, (value: number) => string> = {
    unit_count: units.count,
    unit_bytes: units.bytes,
    unit_bytes_per_s: units.bytesPerS,
    unit_per_s: units.perS,
    unit_percent: units.percent,
  }
  it.each(table('other_units'))('%s of %s is %s', (format, value, text) => {
    expect(formats[format]!(number(value))).toBe(plain(text))
  })
  it('are all there', () => {
    expect([table('durations').length, table('other_units').length, table('age').length]).toEqual([28, 22, 9])
  })
})
