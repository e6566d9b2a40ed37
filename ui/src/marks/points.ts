// Where the points of a curve lie. No DOM.

export interface Point {
  readonly time: bigint
  readonly value: number
}

/** 1, 2, 5, 10, ... of which at most 'most' fit. */
export function roundTicks(top: number, most: number): number[] {
  const size = 10 ** Math.floor(Math.log10(top / most))
  const step = [1, 2, 5, 10].map((n) => n * size).find((one) => top / one <= most) ?? size * 10
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step)
}

/** The path of a line, broken where steps are missing; a point alone is a dot. */
export function pathOf(
  points: readonly Point[],
  stepNs: number,
  x: (time: bigint) => number,
  y: (of: number) => number,
): string {
  return points
    .map((point, i) => {
      const before = points[i - 1]
      const after = points[i + 1]
      const joined = before !== undefined && Number(point.time - before.time) <= 1.6 * stepNs
      const lonely = !joined && !(after !== undefined && Number(after.time - point.time) <= 1.6 * stepNs)
      return `${joined ? 'L' : 'M'}${x(point.time).toFixed(1)} ${y(point.value).toFixed(1)}${lonely ? 'h0.1' : ''}`
    })
    .join('')
}
