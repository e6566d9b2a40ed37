// Calls that lead from one process to another, around one call: on the way to it, and in what it calls. No DOM.

import { placeOf, type Calls, type Tree } from './calls.ts'

export interface Crossing {
  /** Rows: who calls, and what is called in another process. */
  readonly from: number
  readonly to: number
}

export interface Crossings {
  /** From the call up to the first caller of all, or as many of them. */
  readonly above: readonly Crossing[]
  /** In the call and all below it, or, where those are too many, the call's own. */
  readonly below: readonly Crossing[]
  /** How many there are below, of which 'below' may be the first. */
  readonly belowTotal: number
}

/** More arrows hide what they lead to. */
export const MOST_ARROWS = 60

export function crossingsOf(calls: Calls, tree: Tree, row: number): Crossings {
  const above: Crossing[] = []
  for (let at = row; at >= 0 && above.length < MOST_ARROWS; at = calls.parent[at]!)
    if (tree.crossing[placeOf(tree.crossing, at)] === at) above.push({ from: calls.parent[at]!, to: at })

  const first = placeOf(tree.crossing, row + 1)
  const last = placeOf(tree.crossing, tree.end[row]!)
  const belowTotal = last - first
  const below: Crossing[] = []
  for (let i = first; i < last && below.length < MOST_ARROWS; i++) {
    const to = tree.crossing[i]!
    const from = calls.parent[to]!
    if (belowTotal <= MOST_ARROWS || from === row) below.push({ from, to })
  }
  return { above, below, belowTotal }
}
