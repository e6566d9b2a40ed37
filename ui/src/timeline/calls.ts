// The calls of one trace as columns: a call before those it makes, these by begin. No DOM.

export interface Calls {
  readonly rows: number
  /** Nanoseconds from the begin of the trace. */
  readonly begin: Float64Array
  /** Negative: it says that it ended before it began. */
  readonly duration: Float64Array
  /** A row, or -1. */
  readonly parent: Int32Array
  /** A number of the trace's list of processes. */
  readonly process: Uint16Array | Uint32Array
}

export const endOf = (calls: Calls, row: number): number => calls.begin[row]! + Math.max(calls.duration[row]!, 0)

export interface Tree {
  /** How many callers are above. */
  readonly depth: Uint16Array
  /** The row behind the last one below. */
  readonly end: Int32Array
  /** Its time less what of it those that it calls cover. */
  readonly self: Float64Array
  /** Of 'self', as of sumsBefore(). */
  readonly selfBefore: Float64Array
  /** Rows whose caller is in another process, in order. */
  readonly crossing: Int32Array
}

const MOST_DEPTH = 65535

/** Of each row the sum of all rows before it, and one more for all: what any rows have together is a difference. */
export function sumsBefore(of: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(of.length + 1)
  for (let row = 0; row < of.length; row++) sums[row + 1] = sums[row]! + of[row]!
  return sums
}

function crossingRows(calls: Calls): Int32Array {
  const rows = new Int32Array(calls.rows)
  let n = 0
  for (let row = 0; row < calls.rows; row++) {
    const parent = calls.parent[row]!
    if (parent >= 0 && calls.process[parent] !== calls.process[row]) rows[n++] = row
  }
  return rows.slice(0, n)
}

/** The place of the first of these numbers, which are in order, that is at least so great. */
export function placeOf(numbers: ArrayLike<number>, least: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

export function treeOf(calls: Calls): Tree {
  const depth = new Uint16Array(calls.rows)
  const end = new Int32Array(calls.rows)
  const self = new Float64Array(calls.rows)
  const coveredTo = new Float64Array(calls.rows)
  for (let row = 0; row < calls.rows; row++) {
    const parent = calls.parent[row]!
    self[row] = Math.max(calls.duration[row]!, 0)
    coveredTo[row] = calls.begin[row]!
    if (parent < 0) continue
    depth[row] = Math.min(depth[parent]! + 1, MOST_DEPTH)
    const from = Math.max(calls.begin[row]!, coveredTo[parent]!)
    const to = Math.min(endOf(calls, row), endOf(calls, parent))
    if (to <= from) continue
    self[parent]! -= to - from
    coveredTo[parent] = to
  }
  for (let row = calls.rows - 1; row >= 0; row--) {
    end[row] = Math.max(end[row]!, row + 1)
    const parent = calls.parent[row]!
    if (parent >= 0) end[parent] = Math.max(end[parent]!, end[row]!)
  }
  return { depth, end, self, selfBefore: sumsBefore(self), crossing: crossingRows(calls) }
}
