// All that is computed of a trace before it is drawn, and again of its lines when calls are folded: in a worker
// (worker.ts), for of a million calls it takes half a second. No DOM.

import { layLines, type Lines } from './blocks.ts'
import { treeOf, type Calls, type Tree } from './calls.ts'
import { alignCalls, type Aligned } from './clocks.ts'
import { indexLines, type Index } from './detail.ts'
import { hideBelow, type Ended, type Hidden, type Named } from './folds.ts'
import { overviewOf, type Overview } from './overview.ts'

/** What a worker keeps of a trace. functions: of each row its number. */
export interface Kept extends Calls, Ended {
  readonly functions: ArrayLike<number>
}

/** What a worker is told: to lay a trace out; or a piece of it to keep, and then to lay it out anew: the lines of what is
    not folded, nor left out, or all at the times of one clock. */
export type ToLay =
  | { readonly calls: Calls }
  | { readonly piece: Partial<Kept> }
  | { readonly named: Named; readonly leftOut: Uint8Array | undefined }
  | { readonly moved: Float64Array }

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

export interface LaidFolded extends LaidLines {
  readonly hidden: Omit<Hidden, 'rows'>
}

export function layFolded(kept: Kept, named: Named, leftOut: Uint8Array | undefined): LaidFolded {
  const { rows, ...hidden } = hideBelow(kept, kept.functions, named, leftOut)
  const lines = layLines(kept, rows)
  return { lines, index: indexLines(kept, lines), hidden }
}

export type LaidAligned = Laid & Aligned

export function layAligned(calls: Calls, moved: Float64Array): LaidAligned {
  const aligned = alignCalls(calls, moved)
  return { ...aligned, ...lay(aligned.calls) }
}

/** What is handed from one thread to the other instead of being copied. */
export function buffersOf(laid: Laid | LaidLines | LaidAligned): ArrayBuffer[] {
  const { lines, index } = laid
  const arrays: ArrayBufferView[] = [lines.line, lines.order, lines.starts, index.sums, index.longest]
  if ('calls' in laid) {
    const { calls, tree, overview } = laid
    arrays.push(calls.begin, calls.duration, calls.parent, calls.process, tree.depth, tree.end, tree.self)
    arrays.push(tree.selfBefore, tree.crossing, overview.process)
  }
  if ('order' in laid) arrays.push(laid.order)
  return [...new Set(arrays.map((array) => array.buffer as ArrayBuffer))]
}
