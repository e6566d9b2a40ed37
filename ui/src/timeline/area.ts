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

/** While it is added up. */
type Sum = { -readonly [Field in keyof AreaSum]: AreaSum[Field] }

const within = (from: number, to: number, begin: number, end: number): number =>
  Math.max(0, Math.min(end, to) - Math.max(begin, from))

/** The greatest first. functions: of each row its number. order: rows by begin, where those that
    a call makes are not in that order. */
export function sumArea(
  calls: Calls,
  functions: ArrayLike<number>,
  { from, to }: { readonly from: number; readonly to: number },
  order?: ArrayLike<number>,
): AreaSum[] {
  const coveredTo = calls.begin.slice()
  const self = new Float64Array(calls.rows)
  for (let i = 0; i < calls.rows; i++) {
    const row = order?.[i] ?? i
    const begin = calls.begin[row]!
    const end = endOf(calls, row)
    self[row]! += within(from, to, begin, end)
    const parent = calls.parent[row]!
    if (parent < 0) continue
    const first = Math.max(begin, coveredTo[parent]!)
    const last = Math.min(end, endOf(calls, parent))
    if (last <= first) continue
    coveredTo[parent] = last
    self[parent]! -= within(from, to, first, last)
  }

  /** By process, of each function that is met: a trace may have thousands of both. */
  const known: Sum[][] = []
  for (let row = 0; row < calls.rows; row++) {
    if (calls.begin[row]! >= to || endOf(calls, row) <= from) continue
    const process = calls.process[row]!
    const kind = functions[row]!
    const sum = ((known[process] ??= [])[kind] ??= { function: kind, process, calls: 0, self: 0 })
    sum.calls++
    sum.self += self[row]!
  }
  return known
    .flat()
    .sort((a, b) => b.self - a.self || b.calls - a.calls || a.process - b.process || a.function - b.function)
}
