// Calls that lead from one process to another, around one call: on the way to it, and in what it calls. No DOM.

import type { Calls, Tree } from './calls.ts'

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

const crosses = (calls: Calls, row: number): boolean =>
  calls.parent[row]! >= 0 && calls.process[calls.parent[row]!] !== calls.process[row]

export function crossingsOf(calls: Calls, tree: Tree, row: number): Crossings {
  const above: Crossing[] = []
  for (let at = row; at >= 0 && above.length < MOST_ARROWS; at = calls.parent[at]!)
    if (crosses(calls, at)) above.push({ from: calls.parent[at]!, to: at })

  const all: Crossing[] = []
  const own: Crossing[] = []
  let belowTotal = 0
  for (let at = row + 1; at < tree.end[row]!; at++) {
    if (!crosses(calls, at)) continue
    belowTotal++
    const crossing = { from: calls.parent[at]!, to: at }
    if (all.length < MOST_ARROWS) all.push(crossing)
    if (crossing.from === row && own.length < MOST_ARROWS) own.push(crossing)
  }
  return { above, below: belowTotal > MOST_ARROWS ? own : all, belowTotal }
}
