// Which calls of a trace are rows of its tree: all, but for what lies below a call that is folded. No DOM.

/** Behind the last call below each call, as of Tree. */
export type Ends = ArrayLike<number>

/** Rows are some 24 pixels high, and elements of a browser end at 17 million of them. */
const MOST_ROWS = 500_000

/** Numbers of the calls that are shown, in pre-order. */
export function shownRows(ends: Ends, isFolded: (row: number) => boolean): number[] {
  const rows: number[] = []
  for (let row = 0; row < ends.length && rows.length < MOST_ROWS; row = isFolded(row) ? ends[row]! : row + 1)
    rows.push(row)
  return rows
}

export function hasChildren(ends: Ends, row: number): boolean {
  return ends[row]! > row + 1
}

/** How many calls lie below one. */
export function countBelow(ends: Ends, row: number): number {
  return ends[row]! - row - 1
}
