// All that is computed of a trace before it is drawn, and again of its lines when calls are folded: in a worker
// (worker.ts), for of a million calls it takes half a second. No DOM.

import { layLines, type Lines } from './blocks.ts'
import { treeOf, type Calls, type Tree } from './calls.ts'
import { indexLines, type Index } from './detail.ts'
import { overviewOf, type Overview } from './overview.ts'

/** What a worker is told: to lay a trace out; or a piece of its calls to keep, and then as often as it is wanted to lay
    out anew the lines of what is not hidden. */
export type ToLay = { readonly calls: Calls } | { readonly piece: Partial<Calls> } | { readonly hidden: Uint8Array }

export interface LaidLines {
  readonly lines: Lines
  readonly index: Index
}

export interface Laid extends LaidLines {
  readonly calls: Calls
  readonly tree: Tree
  readonly overview: Overview
}

export function lay(calls: Calls): Laid {
  const tree = treeOf(calls)
  const lines = layLines(calls)
  return { calls, tree, lines, index: indexLines(calls, lines), overview: overviewOf(calls, tree) }
}

/** hidden: what lies below calls that are folded (folds.ts). */
export function layFolded(calls: Calls, hidden: Uint8Array): LaidLines {
  const lines = layLines(calls, hidden)
  return { lines, index: indexLines(calls, lines) }
}

/** What is handed from one thread to the other instead of being copied. */
export function buffersOf(laid: Laid | LaidLines): ArrayBuffer[] {
  const { lines, index } = laid
  const arrays: ArrayBufferView[] = [lines.line, lines.order, lines.starts, index.sums, index.longest]
  if ('calls' in laid) {
    const { calls, tree, overview } = laid
    arrays.push(calls.begin, calls.duration, calls.parent, calls.process, tree.depth, tree.end, tree.self)
    arrays.push(tree.selfBefore, tree.crossing, overview.process)
  }
  return [...new Set(arrays.map((array) => array.buffer as ArrayBuffer))]
}
