// Who calls a function, summed over patterns. No DOM.

import type { Pattern, PatternNode } from '../../api/answers.ts'

export interface Caller {
  /** undefined: nobody, it is a root. */
  readonly function?: string
  readonly role?: string
  /** Of the function, below this caller. */
  readonly calls: number
  readonly total_ns: number
  readonly self_ns: number
  readonly critical_ns: number
}

/** The caller of each node: the nearest one before it that is less deep. */
function parents(nodes: readonly PatternNode[]): (PatternNode | undefined)[] {
  const open: PatternNode[] = []
  return nodes.map((node) => {
    open.length = node.depth
    const parent = open[node.depth - 1]
    open[node.depth] = node
    return parent
  })
}

/** By the critical time of the function below them, the greatest first. */
export function callersOf(patterns: readonly Pattern[], name: string): Caller[] {
  const callers = new Map<string, Caller>()
  for (const { nodes } of patterns) {
    const above = parents(nodes)
    nodes.forEach((node, i) => {
      if (node.function !== name) return
      const parent = above[i]
      const key = parent === undefined ? '' : `${parent.role} ${parent.function}`
      const before = callers.get(key)
      callers.set(key, {
        ...(parent === undefined ? {} : { function: parent.function, role: parent.role }),
        calls: (before?.calls ?? 0) + node.calls,
        total_ns: (before?.total_ns ?? 0) + node.total_ns,
        self_ns: (before?.self_ns ?? 0) + node.self_ns,
        critical_ns: (before?.critical_ns ?? 0) + node.critical_ns,
      })
    })
  }
  return [...callers.values()].sort((a, b) => b.critical_ns - a.critical_ns || b.total_ns - a.total_ns)
}
