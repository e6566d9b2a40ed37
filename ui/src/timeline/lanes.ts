// Bars that overlap get lanes of their own: each the first lane that is free. No DOM.

export interface Bar {
  readonly begin: number
  readonly end: number
}

/** The lane of each bar; bars are taken by begin. */
export function layLanes(bars: readonly Bar[]): { lanes: number[]; count: number } {
  const order = bars.map((_, i) => i).sort((a, b) => bars[a]!.begin - bars[b]!.begin || bars[b]!.end - bars[a]!.end)
  const ends: number[] = []
  const lanes: number[] = new Array<number>(bars.length).fill(0)
  for (const i of order) {
    const bar = bars[i]!
    const free = ends.findIndex((end) => end <= bar.begin)
    const lane = free < 0 ? ends.length : free
    ends[lane] = bar.end
    lanes[i] = lane
  }
  return { lanes, count: ends.length }
}
