// Which spans of a trace are rows: all, but for what lies below a span that is folded. No DOM.

export interface Placed {
  readonly depth: number
}

/** Numbers of the spans that are shown, in pre-order. */
export function shownRows(spans: readonly Placed[], folded: ReadonlySet<number>): number[] {
  const rows: number[] = []
  let below = Infinity
  spans.forEach((span, i) => {
    if (span.depth > below) return
    rows.push(i)
    below = folded.has(i) ? span.depth : Infinity
  })
  return rows
}

export function hasChildren(spans: readonly Placed[], i: number): boolean {
  return (spans[i + 1]?.depth ?? -1) > spans[i]!.depth
}

/** How many spans lie below one. */
export function countBelow(spans: readonly Placed[], i: number): number {
  let end = i + 1
  while (end < spans.length && spans[end]!.depth > spans[i]!.depth) end++
  return end - i - 1
}
