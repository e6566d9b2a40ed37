// A trace made small: for each level of calls and each of some moments the process of the longest call. No DOM.

import { endOf, type Calls, type Tree } from './calls.ts'

export const MOMENTS = 512
export const LEVELS = 24

export interface Overview {
  readonly levels: number
  /** LEVELS times MOMENTS: the process, counted from 1; 0: nothing. */
  readonly process: Uint32Array
}

export function overviewOf(calls: Calls, tree: Tree): Overview {
  const process = new Uint32Array(LEVELS * MOMENTS)
  const longest = new Float64Array(LEVELS * MOMENTS).fill(-1)
  let length = 1
  let levels = 1
  for (let row = 0; row < calls.rows; row++) length = Math.max(length, endOf(calls, row))
  for (let row = 0; row < calls.rows; row++) {
    const depth = tree.depth[row]!
    if (depth >= LEVELS) continue
    levels = Math.max(levels, depth + 1)
    const first = Math.min(MOMENTS - 1, Math.floor((calls.begin[row]! / length) * MOMENTS))
    const last = Math.min(MOMENTS - 1, Math.floor((endOf(calls, row) / length) * MOMENTS))
    const long = Math.max(calls.duration[row]!, 0)
    for (let at = depth * MOMENTS + first; at <= depth * MOMENTS + last; at++) {
      if (longest[at]! >= long) continue
      longest[at] = long
      process[at] = calls.process[row]! + 1
    }
  }
  return { levels, process }
}
