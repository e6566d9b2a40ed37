import { describe, expect, it } from 'vitest'
import type { Calls } from './calls.ts'
import { ClockReader, alignCalls, clockOffsets, isReal, movedBy, type ClockPair } from './clocks.ts'

const MS = 1_000_000

/** [parent, process, begin, duration], in milliseconds. */
function callsOf(rows: readonly (readonly [number, number, number, number])[]): Calls {
  return {
    rows: rows.length,
    parent: Int32Array.from(rows, ([parent]) => parent),
    process: Uint16Array.from(rows, ([, process]) => process),
    begin: Float64Array.from(rows, ([, , begin]) => begin * MS),
    duration: Float64Array.from(rows, ([, , , duration]) => duration * MS),
  }
}

/** Read in pieces of two calls. */
function clockPairs(calls: Calls, flags: Uint8Array, hostOf: readonly number[]): ClockPair[] {
  const reader = new ClockReader(calls, flags, hostOf)
  while (reader.read(2));
  return reader.pairs
}

describe('clocks', () => {
  // Host 1 is 20 ms ahead. Host 2, which host 1 calls, goes as host 0 does. Process 3 is on host 0, process 4 nowhere.
  const hostOf = [0, 1, 2, 0, -1]
  const calls = callsOf([
    [-1, 0, 0, 100],
    [0, 1, 30, 80],
    [1, 2, 12, 76],
    [0, 1, 23, 98],
    [0, 3, 5, 5],
    [0, 4, 5, 5],
  ])
  const pairs = clockPairs(calls, new Uint8Array(calls.rows), hostOf)

  it('are known up to half of what the caller took longer, by the call that tells most', () => {
    expect(pairs).toEqual([
      { from: 0, to: 1, offset: -22 * MS, doubt: MS, samples: 2 },
      { from: 1, to: 2, offset: 20 * MS, doubt: 2 * MS, samples: 1 },
    ])
    const coarse = clockPairs(calls, new Uint8Array(calls.rows).fill(16), hostOf)
    expect(coarse.map(({ doubt }) => doubt)).toEqual([2 * MS, 3 * MS])
  })

  it('are not told by calls that contradict each other', () => {
    const late = [0, 1, 5000, 1] as const // a consumer: it begins long after its caller ended
    expect(clockPairs(callsOf([[-1, 0, 0, 10], late, [0, 1, 1, 8]]), new Uint8Array(3), hostOf)).toEqual([])
    const drifted = callsOf([
      [-1, 0, 0, 10],
      [0, 1, 0, 9.9],
      [0, 1, 0.5, 9.9],
    ])
    expect(clockPairs(drifted, new Uint8Array(3), hostOf).length).toBe(1)
  })

  it('are told against one host, over others', () => {
    const offsets = clockOffsets(pairs, 0)
    expect(offsets).toEqual([
      { host: 1, offset: -22 * MS, doubt: MS, samples: 2 },
      { host: 2, offset: -2 * MS, doubt: 3 * MS, samples: 1 },
    ])
    expect(offsets.map(isReal)).toEqual([true, false])
    expect(clockOffsets(pairs, 1).find(({ host }) => host === 0)!.offset).toBe(22 * MS)
  })

  it('are made one where they are surely apart', () => {
    const moved = movedBy(hostOf, clockOffsets(pairs, 0))
    expect([...moved].map((by) => by / MS)).toEqual([0, -22, 0, 0, 0])
    const aligned = alignCalls(calls, moved)
    expect([...aligned.calls.begin].map((at) => at / MS)).toEqual([0, 8, 12, 1, 5, 5])
    expect([...aligned.order]).toEqual([0, 3, 4, 5, 1, 2])
    expect(aligned.length).toBe(100 * MS)
  })

  it('never lead to before the begin', () => {
    const early = callsOf([
      [-1, 0, 0, 10],
      [0, 1, 0.5, 9],
      [-1, 1, 0, 1],
    ])
    const aligned = alignCalls(early, Float64Array.from([0, -4 * MS]))
    expect(Math.min(...aligned.calls.begin)).toBe(0)
    expect(aligned.calls.begin[1]! - aligned.calls.begin[0]!).toBe(-3.5 * MS)
    expect(aligned.first).toBe(-4 * MS)
  })
})
