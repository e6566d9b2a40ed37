// What of a trace lies below calls that are folded, and how much it is. No DOM.

import { placeOf, type Tree } from './calls.ts'
import { countBelow, hasChildren } from './rows.ts'

export interface Below {
  readonly calls: number
  /** Their own time: with that of the call above it is all that was called there. */
  readonly self: number
}

export interface Hidden extends Below {
  /** 1 for each call that is not seen. */
  readonly rows: Uint8Array
  /** How many calls are seen, and have others folded into them. */
  readonly folded: number
}

/** Which calls are folded, as another thread is told. */
export interface Named {
  /** Rows. */
  readonly fold: ReadonlySet<number>
  /** Of functions, by their numbers: 1 where all calls are folded, but for those that are open. */
  readonly functions: Uint8Array
  readonly open: ReadonlySet<number>
}

/** functions: of each row its number. */
export function isNamed({ fold, functions: folded, open }: Named, functions: ArrayLike<number>, row: number): boolean {
  return folded[functions[row]!] === 1 ? !open.has(row) : fold.size > 0 && fold.has(row)
}

/** What of a tree is asked here. */
export type Ended = Pick<Tree, 'end' | 'selfBefore'>

export function hideBelow(tree: Ended, functions: ArrayLike<number>, named: Named, leftOut?: Uint8Array): Hidden {
  return hide(tree, (row) => hasChildren(tree.end, row) && isNamed(named, functions, row), leftOut)
}

/** leftOut: 1 for what is not seen either; it counts only where it lies below a call that is folded. */
export function hide(tree: Ended, isFolded: (row: number) => boolean, leftOut?: Uint8Array): Hidden {
  const rows = leftOut?.slice() ?? new Uint8Array(tree.end.length)
  let [calls, self, folded] = [0, 0, 0]
  for (let row = 0; row < rows.length;) {
    if (rows[row] === 1 || !isFolded(row)) {
      row++
      continue
    }
    const below = belowOf(tree, row)
    calls += below.calls
    self += below.self
    folded++
    rows.fill(1, row + 1, tree.end[row])
    row = tree.end[row]!
  }
  return { rows, calls, self, folded }
}

/** 1 for each call that is not wanted, and has nothing below it that is. */
export function hideOthers(parent: Int32Array, isWanted: (row: number) => boolean): Uint8Array {
  const hidden = new Uint8Array(parent.length).fill(1)
  for (let row = hidden.length - 1; row >= 0; row--) {
    if (hidden[row] === 1 && !isWanted(row)) continue
    hidden[row] = 0
    if (parent[row]! >= 0) hidden[parent[row]!] = 0
  }
  return hidden
}

export function belowOf(tree: Ended, row: number): Below {
  const { end, selfBefore } = tree
  return { calls: countBelow(end, row), self: selfBefore[end[row]!]! - selfBefore[row + 1]! }
}

/** Is any of these numbers, which are in order, in [from, to)? */
export function anyWithin(numbers: readonly number[], from: number, to: number): boolean {
  return (numbers[placeOf(numbers, from)] ?? Infinity) < to
}
