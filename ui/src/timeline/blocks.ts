// Which line each call of a trace is drawn on. No DOM.
//
// A call that comes from another process, or from nowhere, begins a block: itself and what it calls in its process,
// below it. Blocks of a process take the first lines that are free, so callers stay above what they call, and what
// belongs together stays together. On no line two calls overlap, and the calls of a line are in order of time. What lies
// below a call that is folded (folds.ts) has no line.

import { endOf, type Calls } from './calls.ts'

/** A process: lines from 'first' on. */
export interface Track {
  readonly process: number
  readonly first: number
  readonly lines: number
}

export interface Lines {
  readonly tracks: readonly Track[]
  readonly count: number
  /** Of each call; -1: it has none. */
  readonly line: Int32Array
  /** Rows that have a line, line by line; those of line i are order[starts[i]] to order[starts[i + 1] - 1]. */
  readonly order: Int32Array
  readonly starts: Int32Array
}

/** More lines are not looked at for a free one: a trace of ever more calls at once would take for ever. */
const LOOKS = 512

interface Blocks {
  readonly count: number
  /** Of each call; -1: none. */
  readonly of: Int32Array
  /** Rows, block by block. */
  readonly rows: Int32Array
  readonly starts: Int32Array
  readonly process: Int32Array
  readonly begin: Float64Array
  readonly end: Float64Array
  readonly height: Int32Array
  /** Of each call, within its block. */
  readonly line: Int32Array
}

/** Rows grouped by a number each, those with -1 left out; within a group in the order in which they come. */
function group(of: Int32Array, count: number, order?: Int32Array): { rows: Int32Array; starts: Int32Array } {
  const starts = new Int32Array(count + 1)
  for (const one of of) if (one >= 0) starts[one + 1]!++
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!
  const next = starts.slice()
  const rows = new Int32Array(starts[count]!)
  const length = order ? order.length : of.length
  for (let i = 0; i < length; i++) {
    const row = order ? order[i]! : i
    if (of[row]! >= 0) rows[next[of[row]!]!++] = row
  }
  return { rows, starts }
}

function findBlocks(calls: Calls, hidden: Uint8Array | undefined): Blocks {
  const of = new Int32Array(calls.rows).fill(-1)
  let count = 0
  for (let row = 0; row < calls.rows; row++) {
    if (hidden?.[row] === 1) continue
    const parent = calls.parent[row]!
    of[row] = parent >= 0 && calls.process[parent] === calls.process[row] ? of[parent]! : count++
  }
  const blocks = {
    count,
    of,
    ...group(of, count),
    process: new Int32Array(count),
    begin: new Float64Array(count).fill(Infinity),
    end: new Float64Array(count).fill(-Infinity),
    height: new Int32Array(count),
    line: new Int32Array(calls.rows),
  }
  for (let row = 0; row < calls.rows; row++) {
    const block = of[row]!
    if (block < 0) continue
    blocks.process[block] = calls.process[row]!
    blocks.begin[block] = Math.min(blocks.begin[block]!, calls.begin[row]!)
    blocks.end[block] = Math.max(blocks.end[block]!, endOf(calls, row))
  }
  return blocks
}

/** A call is below its caller, on the first line on which all before have ended. */
function layBlock(calls: Calls, blocks: Blocks, block: number, ends: number[]): void {
  ends.length = 0
  for (let i = blocks.starts[block]!; i < blocks.starts[block + 1]!; i++) {
    const row = blocks.rows[i]!
    const parent = calls.parent[row]!
    const inside = parent >= 0 && blocks.of[parent] === block
    const first = inside ? blocks.line[parent]! + 1 : 0
    const last = Math.min(ends.length, first + LOOKS)
    let line = first
    while (line < last && ends[line]! > calls.begin[row]!) line++
    if (line === last) line = Math.max(first, ends.length)
    blocks.line[row] = line
    ends[line] = endOf(calls, row)
  }
  blocks.height[block] = ends.length
}

/** The first lines, as many as the block is high, on which everything has ended. */
function freeLines(ends: readonly number[], begin: number, height: number): number {
  let first = 0
  for (let line = 0; line < ends.length && line < first + height; line++) {
    if (line >= LOOKS + height) return ends.length
    if (ends[line]! > begin) first = line + 1
  }
  return first
}

/** Processes in the order in which they first come in the trace. */
function blocksByProcess(blocks: Blocks): Map<number, number[]> {
  const lists = new Map<number, number[]>()
  for (let block = 0; block < blocks.count; block++) {
    const list = lists.get(blocks.process[block]!)
    if (list) list.push(block)
    else lists.set(blocks.process[block]!, [block])
  }
  for (const list of lists.values()) list.sort((a, b) => blocks.begin[a]! - blocks.begin[b]! || a - b)
  return lists
}

/** hidden: 1 for each call that lies below a folded one. */
export function layLines(calls: Calls, hidden?: Uint8Array): Lines {
  const blocks = findBlocks(calls, hidden)
  const scratch: number[] = []
  for (let block = 0; block < blocks.count; block++) layBlock(calls, blocks, block, scratch)

  const offset = new Int32Array(blocks.count)
  const inTime = new Int32Array(blocks.rows.length)
  const tracks: Track[] = []
  let first = 0
  let at = 0
  for (const [process, list] of blocksByProcess(blocks)) {
    const ends: number[] = []
    for (const block of list) {
      const line = freeLines(ends, blocks.begin[block]!, blocks.height[block]!)
      for (let i = 0; i < blocks.height[block]!; i++) ends[line + i] = blocks.end[block]!
      offset[block] = first + line
      for (let i = blocks.starts[block]!; i < blocks.starts[block + 1]!; i++) inTime[at++] = blocks.rows[i]!
    }
    tracks.push({ process, first, lines: ends.length })
    first += ends.length
  }

  const line = new Int32Array(calls.rows).fill(-1)
  for (const row of blocks.rows) line[row] = offset[blocks.of[row]!]! + blocks.line[row]!
  const grouped = group(line, first, inTime)
  return { tracks, count: first, line, order: grouped.rows, starts: grouped.starts }
}
