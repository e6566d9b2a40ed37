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
}

const MOST_DEPTH = 65535

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
  return { depth, end, self }
}
