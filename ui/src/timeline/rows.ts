// Which calls of a trace are rows of its tree: all, but for what lies below a call that is folded, what is left out, and
// equal siblings, which are one row. No DOM.

import type { Calls } from './calls.ts'

/** Behind the last call below each call, as of Tree. */
export type Ends = ArrayLike<number>

/** Rows are some 24 pixels high, and elements of a browser end at 17 million of them. */
const MOST_ROWS = 500_000
/** Of so many equal siblings on end one row stands for all. */
export const RUN_FROM = 8

/** Siblings of one function and process, with none of another between them. */
export interface Run {
  readonly first: number
  readonly calls: number
  /** Behind the last call below the last of them. */
  readonly end: number
}

export interface ShownRows {
  /** Numbers of the calls that are shown, in pre-order; of a closed run its first. */
  readonly rows: readonly number[]
  /** By the first call of each that is met, closed or open. */
  readonly runs: ReadonlyMap<number, Run>
}

export interface RowRules {
  readonly ends: Ends
  readonly isFolded: (row: number) => boolean
  /** 1 for what is left out, with all below it. */
  readonly hidden?: Uint8Array | undefined
  /** Which siblings are equal; undefined: none are put together. */
  readonly runs?: {
    readonly parent: ArrayLike<number>
    readonly kindOf: (row: number) => number
    readonly isOpen: (run: Run) => boolean
  }
}

function runAt(rules: RowRules, first: number): Run | undefined {
  const { ends, hidden } = rules
  const { parent, kindOf } = rules.runs!
  const kind = kindOf(first)
  let [calls, end] = [1, ends[first]!]
  for (let at = end; at < ends.length && parent[at] === parent[first]; at = ends[at]!) {
    if (hidden?.[at] === 1) continue
    if (kindOf(at) !== kind) break
    calls++
    end = ends[at]!
  }
  return calls < RUN_FROM ? undefined : { first, calls, end }
}

export function shownRows(rules: RowRules): ShownRows {
  const { ends, isFolded, hidden } = rules
  const rows: number[] = []
  const runs = new Map<number, Run>()
  /** By parent: the kind of the sibling before, so that each run is looked for once. */
  const before = new Map<number, number>()
  const newRun = (row: number): Run | undefined => {
    const parent = rules.runs!.parent[row]!
    const kind = rules.runs!.kindOf(row)
    if (parent < 0 || before.get(parent) === kind) return undefined
    before.set(parent, kind)
    return runAt(rules, row)
  }
  for (let row = 0; row < ends.length && rows.length < MOST_ROWS;) {
    if (hidden?.[row] === 1) {
      row = ends[row]!
      continue
    }
    rows.push(row)
    const run = rules.runs && newRun(row)
    if (run !== undefined) runs.set(row, run)
    if (run !== undefined && !rules.runs!.isOpen(run)) row = run.end
    else row = isFolded(row) ? ends[row]! : row + 1
  }
  return { rows, runs }
}

export interface RunSum {
  readonly total: number
  readonly longest: number
  readonly begin: number
  readonly end: number
}

/** Of the calls of a run themselves, in nanoseconds. hidden: as of the rules by which it is one. */
export function runSum(calls: Calls, ends: Ends, run: Run, hidden: Uint8Array | undefined): RunSum {
  const begin = calls.begin[run.first]!
  let [total, longest, end] = [0, 0, begin]
  for (let row = run.first; row < run.end; row = ends[row]!) {
    if (hidden?.[row] === 1) continue
    const long = Math.max(calls.duration[row]!, 0)
    total += long
    longest = Math.max(longest, long)
    end = Math.max(end, calls.begin[row]! + long)
  }
  return { total, longest, begin, end }
}

export function hasChildren(ends: Ends, row: number): boolean {
  return ends[row]! > row + 1
}

/** How many calls lie below one. */
export function countBelow(ends: Ends, row: number): number {
  return ends[row]! - row - 1
}
