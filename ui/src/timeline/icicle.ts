// Where the calls of a call tree lie in an icicle: a caller above what it calls. No DOM.

export interface IcicleNode {
  readonly depth: number
  readonly calls: number
  readonly total_ns: number
  readonly self_ns: number
  readonly critical_ns: number
  /** Of calls that recorded bytes. */
  readonly bytes?: { readonly total_bytes: number }
}

export type Width = 'critical' | 'total' | 'self' | 'calls' | 'bytes'

export interface Cell {
  /** The number of the node in pre-order. */
  readonly node: number
  readonly depth: number
  /** Of the whole width: 0 to 1. */
  readonly x: number
  readonly width: number
}

/** [first, end): the node and all below it. */
export function endOf(nodes: readonly { readonly depth: number }[], first: number): number {
  const depth = nodes[first]!.depth
  let end = first + 1
  while (end < nodes.length && nodes[end]!.depth > depth) end++
  return end
}

function childrenOf(nodes: readonly IcicleNode[], parent: number, end: number): number[] {
  const children: number[] = []
  for (let child = parent + 1; child < end; child = endOf(nodes, child)) children.push(child)
  return children
}

const OWN: Readonly<Record<Exclude<Width, 'total'>, (node: IcicleNode) => number>> = {
  critical: (node) => node.critical_ns,
  self: (node) => node.self_ns,
  calls: (node) => node.calls,
  bytes: (node) => node.bytes?.total_bytes ?? 0,
}

/** What a node is as wide as: with all below it, but for total times, which contain those already. */
export function weights(nodes: readonly IcicleNode[], width: Width): number[] {
  const sums = nodes.map((node) => (width === 'total' ? Math.max(node.total_ns, 0) : Math.max(OWN[width](node), 0)))
  if (width === 'total') return sums
  const open: number[] = []
  for (let i = nodes.length - 1; i >= 0; i--) {
    const depth = nodes[i]!.depth
    while (open.length > 0 && nodes[open[open.length - 1]!]!.depth === depth + 1) sums[i]! += sums[open.pop()!]!
    open.push(i)
  }
  return sums
}

/** The cells of the tree below 'focus' (-1: of all roots side by side), but for those narrower than 'least'. */
export function layIcicle(nodes: readonly IcicleNode[], width: Width, focus: number, least: number): Cell[] {
  const sums = weights(nodes, width)
  const cells: Cell[] = []
  const lay = (node: number, x: number, w: number, depth: number): void => {
    if (w < least) return
    cells.push({ node, depth, x, width: w })
    const children = childrenOf(nodes, node, endOf(nodes, node))
    const below = children.reduce((sum, child) => sum + sums[child]!, 0)
    // Children that ran side by side take more than their parent: they are scaled to it.
    const whole = Math.max(sums[node]!, below)
    let at = x
    for (const child of children) {
      const part = whole > 0 ? (w * sums[child]!) / whole : 0
      lay(child, at, part, depth + 1)
      at += part
    }
  }
  if (focus >= 0) {
    lay(focus, 0, 1, 0)
    return cells
  }
  const roots = nodes.flatMap((node, i) => (node.depth === 0 ? [i] : []))
  const all = roots.reduce((sum, root) => sum + sums[root]!, 0)
  let at = 0
  for (const root of roots) {
    const part = all > 0 ? sums[root]! / all : 1 / roots.length
    lay(root, at, part, 0)
    at += part
  }
  return cells
}
