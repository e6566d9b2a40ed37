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
  const coveredTo = Float64Array.from(calls.begin)
  /** By process, of each function: one array for each that is met, since a million calls are looked at. */
  const self: (Float64Array | undefined)[] = []
  const open: (Uint32Array | undefined)[] = []
  const addSelf = (row: number, by: number): void => {
    const sums = (self[calls.process[row]!] ??= new Float64Array(kinds))
    sums[functions[row]!]! += by
  }

  for (let i = 0; i < calls.rows; i++) {
    const row = order?.[i] ?? i
    const begin = calls.begin[row]!
    const end = endOf(calls, row)
    if (begin < to && end > from) {
      const counts = (open[calls.process[row]!] ??= new Uint32Array(kinds))
      counts[functions[row]!]!++
      addSelf(row, within(from, to, begin, end))
    }
    const parent = calls.parent[row]!
    if (parent < 0) continue
    const first = Math.max(begin, coveredTo[parent]!)
    const last = Math.min(end, endOf(calls, parent))
    if (last <= first) continue
    coveredTo[parent] = last
    const covered = within(from, to, first, last)
    if (covered > 0) addSelf(parent, -covered)
  }
  return open
    .flatMap((counts, process) =>
      Array.from(counts ?? [], (calls, kind) => ({
        function: kind,
        process,
        calls,
        self: Math.max(self[process]![kind]!, 0),
      })).filter((sum) => sum.calls > 0),
    )
    .sort((a, b) => b.self - a.self || b.calls - a.calls)
}
