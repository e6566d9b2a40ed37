// Where the time between two moments of a trace went: self time by function and process. No DOM.

import { endOf, type Calls } from './calls.ts'

export interface AreaSum {
  /** The function's number of the trace's list, and the process's. */
  readonly function: number
  readonly process: number
  /** Calls that were open at some time of it. */
  readonly calls: number
  /** Their time within it less what of that those cover that they call. */
  readonly self: number
}

const within = (from: number, to: number, begin: number, end: number): number =>
  Math.max(0, Math.min(end, to) - Math.max(begin, from))

/** The greatest first. functions: of each row its number; kinds: how many there are. order: rows by begin, where those that
    a call makes are not in that order. */
export function sumArea(
  calls: Calls,
  functions: ArrayLike<number>,
  kinds: number,
  { from, to }: { readonly from: number; readonly to: number },
  order?: ArrayLike<number>,
): AreaSum[] {
  const coveredTo = new Float64Array(calls.rows)
  const self = new Map<number, number>()
  const open = new Map<number, number>()
  const kindOf = (row: number): number => calls.process[row]! * kinds + functions[row]!
  const add = (sums: Map<number, number>, kind: number, by: number): void =>
    void sums.set(kind, (sums.get(kind) ?? 0) + by)

  coveredTo.set(calls.begin)
  for (let i = 0; i < calls.rows; i++) {
    const row = order?.[i] ?? i
    const begin = calls.begin[row]!
    const end = endOf(calls, row)
    if (begin < to && end > from) {
      add(open, kindOf(row), 1)
      add(self, kindOf(row), within(from, to, begin, end))
    }
    const parent = calls.parent[row]!
    if (parent < 0) continue
    const first = Math.max(begin, coveredTo[parent]!)
    const last = Math.min(end, endOf(calls, parent))
    if (last <= first) continue
    coveredTo[parent] = last
    const covered = within(from, to, first, last)
    if (covered > 0) add(self, kindOf(parent), -covered)
  }
  return [...open]
    .map(([kind, n]) => ({
      function: kind % kinds,
      process: Math.floor(kind / kinds),
      calls: n,
      self: Math.max(self.get(kind) ?? 0, 0),
    }))
    .sort((a, b) => b.self - a.self || b.calls - a.calls)
}
