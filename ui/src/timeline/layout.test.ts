import { describe, expect, it } from 'vitest'
import { layLines } from './blocks.ts'
import { endOf, treeOf, type Calls } from './calls.ts'
import { Detail, Rectangles, indexLines, pick, type Window } from './detail.ts'
import { anyWithin, belowOf, hide, hideOthers } from './folds.ts'
import { layFolded, type LaidFolded } from './layout.ts'
import { LEVELS, MOMENTS, overviewOf } from './overview.ts'
import { hasChildren } from './rows.ts'

function random(seed: number): (below: number) => number {
  let state = seed * 2654435761
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

/** Calls of any shape, in the order in which plumbd gives them: pre-order, children by begin. */
function anyCalls(seed: number, rows: number): Calls {
  const next = random(seed)
  const children = new Map<number, number[]>()
  const begin = [0]
  const duration = [1000]
  const process = [0]
  for (let i = 1; i < rows; i++) {
    const parent = next(8) === 0 ? -1 : Math.max(0, i - 1 - next(6))
    begin[i] = (parent < 0 ? 0 : begin[parent]!) + next(200) - (next(10) === 0 ? 5 : 0)
    duration[i] = next(20) === 0 ? -3 : next(4) === 0 ? 0 : next(200)
    process[i] = parent >= 0 && next(3) > 0 ? process[parent]! : next(5)
    children.set(parent, [...(children.get(parent) ?? []), i])
  }
  const order: number[] = []
  const parents: number[] = []
  const visit = (one: number, parent: number): void => {
    const row = order.length
    order.push(one)
    parents.push(parent)
    for (const child of (children.get(one) ?? []).sort((a, b) => begin[a]! - begin[b]!)) visit(child, row)
  }
  for (const root of [0, ...(children.get(-1) ?? [])].sort((a, b) => begin[a]! - begin[b]!)) visit(root, -1)
  return {
    rows: order.length,
    begin: Float64Array.from(order, (one) => begin[one]!),
    duration: Float64Array.from(order, (one) => duration[one]!),
    parent: Int32Array.from(parents),
    process: Uint16Array.from(order, (one) => process[one]!),
  }
}

const SEEDS = [1, 2, 3, 4, 5, 6]

describe.each(SEEDS)('the lines of a trace (%s)', (seed) => {
  const calls = anyCalls(seed, 400)
  const lines = layLines(calls)
  const tree = treeOf(calls)

  it('have every call once, in order, and none over another', () => {
    expect([...lines.order].sort((a, b) => a - b)).toEqual(Array.from({ length: calls.rows }, (_, i) => i))
    for (let line = 0; line < lines.count; line++) {
      let end = -Infinity
      for (let at = lines.starts[line]!; at < lines.starts[line + 1]!; at++) {
        const row = lines.order[at]!
        expect(lines.line[row]).toBe(line)
        expect(calls.begin[row]).toBeGreaterThanOrEqual(end)
        end = endOf(calls, row)
      }
    }
  })
  it('have callers above what they call in their process', () => {
    for (let row = 0; row < calls.rows; row++) {
      const parent = calls.parent[row]!
      if (parent >= 0 && calls.process[parent] === calls.process[row])
        expect(lines.line[row]).toBeGreaterThan(lines.line[parent]!)
      const track = lines.tracks.find((one) => one.process === calls.process[row])!
      expect(lines.line[row]).toBeGreaterThanOrEqual(track.first)
      expect(lines.line[row]).toBeLessThan(track.first + track.lines)
    }
  })
  it('know what is below, and whose time it is', () => {
    for (let row = 0; row < calls.rows; row++) {
      for (let below = row + 1; below < tree.end[row]!; below++)
        expect(tree.depth[below]).toBeGreaterThan(tree.depth[row]!)
      if (tree.end[row]! < calls.rows) expect(tree.depth[tree.end[row]!]).toBeLessThanOrEqual(tree.depth[row]!)
      const children: [number, number][] = []
      for (let child = row + 1; child < tree.end[row]!; child++)
        if (calls.parent[child] === row) children.push([calls.begin[child]!, endOf(calls, child)])
      let free = 0
      for (let at = calls.begin[row]!; at < endOf(calls, row); at++)
        if (!children.some(([from, to]) => from <= at && at < to)) free++
      expect(tree.self[row]).toBe(free)
    }
  })
  it('are small once', () => {
    const overview = overviewOf(calls, tree)
    expect(overview.process).toHaveLength(LEVELS * MOMENTS)
    expect(overview.levels).toBe(Math.min(LEVELS, 1 + tree.depth.reduce((most, depth) => Math.max(most, depth), 0)))
  })
})

/** The calls that are seen, as a trace of their own; and the row that each has in it. */
function seenAlone(calls: Calls, hidden: Uint8Array): [Calls, number[]] {
  const rows = Array.from({ length: calls.rows }, (_, row) => row).filter((row) => hidden[row] === 0)
  const number = new Map(rows.map((row, i) => [row, i]))
  const alone = {
    rows: rows.length,
    begin: Float64Array.from(rows, (row) => calls.begin[row]!),
    duration: Float64Array.from(rows, (row) => calls.duration[row]!),
    parent: Int32Array.from(rows, (row) => number.get(calls.parent[row]!) ?? -1),
    process: Uint16Array.from(rows, (row) => calls.process[row]!),
  }
  return [alone, rows]
}

describe.each(SEEDS)('folded calls (%s)', (seed) => {
  const calls = anyCalls(seed, 400)
  const tree = treeOf(calls)
  const next = random(seed + 10)
  const folded = new Set(Array.from({ length: calls.rows }, (_, row) => row).filter(() => next(5) === 0))
  const hidden = hide(tree, (row) => folded.has(row))
  const isBelow = (row: number): boolean => {
    const parent = calls.parent[row]!
    return parent >= 0 && (folded.has(parent) || isBelow(parent))
  }
  const lines = layLines(calls, hidden.rows)
  const [alone, rows] = seenAlone(calls, hidden.rows)

  it('hide all that lies below them, and tell how much it is', () => {
    const below = Array.from({ length: calls.rows }, (_, row) => row).filter(isBelow)
    expect(Array.from(hidden.rows, (one, row) => (one === 1 ? row : -1)).filter((row) => row >= 0)).toEqual(below)
    expect(hidden.calls).toBe(below.length)
    expect(hidden.self).toBeCloseTo(below.reduce((sum, row) => sum + tree.self[row]!, 0))
    expect(belowOf(tree, 0).calls).toBe(tree.end[0]! - 1)
  })
  it('leave the lines of what is seen, as if nothing else were there', () => {
    const expected = layLines(alone)
    expect(lines.count).toBe(expected.count)
    expect(lines.tracks).toEqual(expected.tracks)
    expect(rows.map((row) => lines.line[row])).toEqual([...expected.line])
    expect([...lines.order]).toEqual([...expected.order].map((i) => rows[i]))
    for (let row = 0; row < calls.rows; row++) if (hidden.rows[row] === 1) expect(lines.line[row]).toBe(-1)
  })
  it('are named by rows, or by their function but for those that are open', () => {
    const functions = Uint8Array.from({ length: calls.rows }, (_, row) => Number(folded.has(row)))
    const kept = { ...calls, ...tree, functions }
    const laid = (isFolded: (row: number) => boolean): LaidFolded => {
      const { rows, ...sums } = hide(tree, (row) => hasChildren(tree.end, row) && isFolded(row))
      const seen = layLines(calls, rows)
      return { lines: seen, index: indexLines(calls, seen), hidden: sums }
    }
    const [none, open] = [new Set<number>(), new Set([...folded].slice(0, 3))]
    const named = { fold: none, functions: Uint8Array.of(0, 1), open }
    expect(layFolded(kept, named, undefined)).toEqual(laid((row) => folded.has(row) && !open.has(row)))
    const byRow = { fold: folded, functions: new Uint8Array(2), open: none }
    expect(layFolded(kept, byRow, undefined)).toEqual(laid((row) => folded.has(row)))
  })
  it('are drawn with the others, and nothing else is', () => {
    const drawn = new Rectangles(4000)
    const detail = new Detail(calls, lines, indexLines(calls, lines))
    detail.fill(drawn, { from: -100, to: 1e6, first: 0, last: lines.count, pixels: 50 })
    expect(drawn.calls.slice(0, drawn.count).reduce((sum, one) => sum + one, 0)).toBe(rows.length)
  })
})

describe.each(SEEDS)('what is asked for alone (%s)', (seed) => {
  const calls = anyCalls(seed, 400)
  const next = random(seed + 20)
  const wanted = new Set(Array.from({ length: calls.rows }, (_, row) => row).filter(() => next(12) === 0))
  const left = hideOthers(calls.parent, (row) => wanted.has(row))
  const lines = layLines(calls, hide(treeOf(calls), () => false, left).rows)

  it('stays with its callers, and has lines; nothing else has', () => {
    const stay = new Set<number>()
    for (const row of wanted) for (let at = row; at >= 0; at = calls.parent[at]!) stay.add(at)
    expect(Array.from(left, (one, row) => (one === 0 ? row : -1)).filter((row) => row >= 0)).toEqual(
      [...stay].sort((a, b) => a - b),
    )
    expect([...lines.order].sort((a, b) => a - b)).toEqual([...stay].sort((a, b) => a - b))
  })
})

it('finds numbers within bounds', () => {
  expect([0, 3, 4, 9].map((from) => anyWithin([3, 7, 8], from, from + 2))).toEqual([false, true, false, false])
  expect(anyWithin([], 0, 9)).toBe(false)
})

describe.each(SEEDS)('what is drawn (%s)', (seed) => {
  const calls = anyCalls(seed, 3000)
  const lines = layLines(calls)
  const detail = new Detail(calls, lines, indexLines(calls, lines))
  const last = calls.begin.reduce((most, _, row) => Math.max(most, endOf(calls, row)), 0)
  const windows: Window[] = [
    { from: 0, to: last, first: 0, last: lines.count, pixels: 40 },
    { from: last / 3, to: last / 2, first: 0, last: lines.count, pixels: 100 },
    { from: last / 3, to: last / 3 + 20, first: 2, last: Math.min(30, lines.count), pixels: 800 },
  ]
  it.each(windows)('has every call of the window once, and no more than there is room for ($pixels)', (window) => {
    const drawn = new Rectangles(4000)
    detail.fill(drawn, window)
    const expected = Array.from({ length: calls.rows }, (_, row) => row).filter(
      (row) =>
        lines.line[row]! >= window.first &&
        lines.line[row]! < window.last &&
        endOf(calls, row) > window.from &&
        calls.begin[row]! <= window.to,
    )
    const shown = drawn.calls.slice(0, drawn.count).reduce((sum, one) => sum + one, 0)
    // A run that begins within the window may end behind it.
    expect(shown).toBeGreaterThanOrEqual(expected.length)
    const few = new Rectangles(60)
    if (window.last - window.first < 60) {
      detail.fill(few, window)
      expect(few.count).toBeLessThanOrEqual(60)
      expect(few.calls.slice(0, few.count).reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(expected.length)
    }
    const isDrawn = (row: number): boolean => {
      for (let i = 0; i < drawn.count; i++)
        if (
          drawn.line[i] === lines.line[row] &&
          drawn.from[i]! <= calls.begin[row]! &&
          drawn.to[i]! >= endOf(calls, row)
        )
          return true
      return false
    }
    expect(expected.filter((row) => !isDrawn(row))).toEqual([])
  })
  it('never lies over anything else, and is what is picked', () => {
    const drawn = new Rectangles(4000)
    detail.fill(drawn, windows[1]!)
    for (let i = 1; i < drawn.count; i++)
      if (drawn.line[i] === drawn.line[i - 1]) expect(drawn.from[i]).toBeGreaterThanOrEqual(drawn.to[i - 1]!)
    for (let i = 0; i < drawn.count; i++) {
      const middle = (drawn.from[i]! + drawn.to[i]!) / 2
      const found = pick(drawn, drawn.line[i]!, middle, 0)
      expect(drawn.from[found]).toBeLessThanOrEqual(middle)
      expect(drawn.to[found]).toBeGreaterThanOrEqual(middle)
      expect(drawn.line[found]).toBe(drawn.line[i])
    }
    expect(pick(drawn, lines.count + 1, 0, 0)).toBe(-1)
  })
  it('has runs that begin and end at the same places while one pans', () => {
    const edges = (from: number): Set<number> => {
      const drawn = new Rectangles(4000)
      detail.fill(drawn, { from, to: from + 128, first: 0, last: lines.count, pixels: 64 })
      const inside = [...drawn.from.slice(0, drawn.count)].filter((edge) => edge > 300 && edge < 380)
      return new Set(inside)
    }
    expect(edges(290)).toEqual(edges(275))
  })
})
