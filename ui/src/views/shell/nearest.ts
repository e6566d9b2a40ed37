// The known name that was meant, by plumb's own rule (common/base/nearest.c).

/** Letters that differ, are too many, lacking, or swapped with the next one. */
function distance(a: string, b: string): number {
  let twoAbove: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      let best = Math.min(above[j - 1]! + Number(a[i - 1] !== b[j - 1]), above[j]! + 1, row[j - 1]! + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, twoAbove[j - 2]! + 1)
      row[j] = best
    }
    twoAbove = above
    above = row
  }
  return above[b.length]!
}

/** undefined: none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly apart: number } | undefined
  for (const one of known) {
    const apart = distance(name, one)
    const begins = name.length >= 2 && (one.startsWith(name) || name.startsWith(one))
    if (apart * 3 > Math.max(name.length, one.length) + 1 && !begins) continue
    if (best === undefined || apart < best.apart) best = { name: one, apart }
  }
  return best?.name
}
