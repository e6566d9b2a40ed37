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
  const coveredTo = calls.begin.slice()
  const self = new Float64Array(calls.rows)
  /** Of each process the last call that is open in that time, and of each of these the one before it, or -1. */
  const last: number[] = []
  const before = new Int32Array(calls.rows)
  for (let i = 0; i < calls.rows; i++) {
    const row = order?.[i] ?? i
    const begin = calls.begin[row]!
    const end = endOf(calls, row)
    if (begin < to && end > from) {
      const process = calls.process[row]!
      before[row] = last[process] ?? -1
      last[process] = row
      self[row]! += within(from, to, begin, end)
    }
    const parent = calls.parent[row]!
    if (parent < 0) continue
    const first = Math.max(begin, coveredTo[parent]!)
    const behind = Math.min(end, endOf(calls, parent))
    if (behind <= first) continue
    coveredTo[parent] = behind
    self[parent]! -= within(from, to, first, behind)
  }

  /** Process by process, so that there are as many sums at a time as functions. */
  const time = new Float64Array(kinds)
  const count = new Uint32Array(kinds)
  return last
    .flatMap((end, process) => {
      const met: number[] = []
      for (let row = end; row >= 0; row = before[row]!) {
        const kind = functions[row]!
        if (count[kind]!++ === 0) met.push(kind)
        time[kind]! += self[row]!
      }
      return met.map((kind) => {
        const sum = { function: kind, process, calls: count[kind]!, self: Math.max(time[kind]!, 0) }
        time[kind] = count[kind] = 0
        return sum
      })
    })
    .sort((a, b) => b.self - a.self || b.calls - a.calls || a.process - b.process || a.function - b.function)
}
