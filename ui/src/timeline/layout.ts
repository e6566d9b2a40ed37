// All that is computed of a trace before it is drawn: in a worker (worker.ts), for it may take half a second. No DOM.

import { layLines, type Lines } from './blocks.ts'
import { treeOf, type Calls, type Tree } from './calls.ts'
import { indexLines, type Index } from './detail.ts'
import { overviewOf, type Overview } from './overview.ts'

export interface Laid {
  readonly calls: Calls
  readonly tree: Tree
  readonly lines: Lines
  readonly index: Index
  readonly overview: Overview
}

export function lay(calls: Calls): Laid {
  const tree = treeOf(calls)
  const lines = layLines(calls)
  return { calls, tree, lines, index: indexLines(calls, lines), overview: overviewOf(calls, tree) }
}

/** What is handed from one thread to the other instead of being copied. */
export function buffersOf(laid: Laid): ArrayBuffer[] {
  const { calls, tree, lines, index, overview } = laid
  const arrays = [calls.begin, calls.duration, calls.parent, calls.process, tree.depth, tree.end, tree.self, lines.line]
  arrays.push(lines.order, lines.starts, index.sums, index.longest, overview.process)
  return [...new Set(arrays.map((array) => array.buffer as ArrayBuffer))]
}
