// What of a trace's lines is drawn: calls that are wide enough one by one, runs of smaller ones as one rectangle. The
// edges of runs lie at multiples of a power of two of nanoseconds, so that nothing shimmers while one pans. No DOM.

import type { Lines } from './blocks.ts'
import { endOf, type Calls } from './calls.ts'

const CHUNK = 64

export interface Index {
  /** Sum of the durations of all before, in the order of lines; one more than calls. */
  readonly sums: Float64Array
  /** The longest call of each 64 of that order: its place. */
  readonly longest: Int32Array
}

export function indexLines(calls: Calls, lines: Lines): Index {
  const { length } = lines.order
  const sums = new Float64Array(length + 1)
  const longest = new Int32Array(Math.ceil(length / CHUNK))
  for (let at = 0; at < length; at++) {
    const long = Math.max(calls.duration[lines.order[at]!]!, 0)
    sums[at + 1] = sums[at]! + long
    const chunk = Math.floor(at / CHUNK)
    if (at % CHUNK === 0 || long > Math.max(calls.duration[lines.order[longest[chunk]!]!]!, 0)) longest[chunk] = at
  }
  return { sums, longest }
}

/** Rectangles of one frame: arrays that are used again. */
export class Rectangles {
  count = 0
  readonly from: Float64Array
  readonly to: Float64Array
  readonly line: Int32Array
  /** The call, or the longest of a run. */
  readonly row: Int32Array
  /** How many calls. */
  readonly calls: Int32Array
  /** Of a run: the share of its time in which something was called. */
  readonly busy: Float32Array

  readonly most: number

  constructor(most: number) {
    this.most = most
    this.from = new Float64Array(most)
    this.to = new Float64Array(most)
    this.line = new Int32Array(most)
    this.row = new Int32Array(most)
    this.calls = new Int32Array(most)
    this.busy = new Float32Array(most)
  }
}

export interface Window {
  readonly from: number
  readonly to: number
  /** Lines [first, last). */
  readonly first: number
  readonly last: number
  readonly pixels: number
}

export class Detail {
  constructor(
    readonly calls: Calls,
    readonly lines: Lines,
    readonly index: Index,
  ) {}

  /** The first place of a line whose call ends after a time. */
  private after(line: number, time: number): number {
    let low = this.lines.starts[line]!
    let high = this.lines.starts[line + 1]!
    while (low < high) {
      const middle = (low + high) >> 1
      if (endOf(this.calls, this.lines.order[middle]!) > time) high = middle
      else low = middle + 1
    }
    return low
  }

  private long(at: number): number {
    return Math.max(this.calls.duration[this.lines.order[at]!]!, 0)
  }

  /** From a place on, calls that begin before 'until' and are shorter than 'least': the place behind them, the longest. */
  private run(at: number, end: number, until: number, least: number): [number, number] {
    let longest = at
    while (at < end) {
      const whole = at % CHUNK === 0 && at + CHUNK <= end
      const best = this.index.longest[Math.floor(at / CHUNK)]!
      if (whole && this.long(best) < least && this.calls.begin[this.lines.order[at + CHUNK - 1]!]! < until) {
        if (this.long(best) > this.long(longest)) longest = best
        at += CHUNK
        continue
      }
      if (this.calls.begin[this.lines.order[at]!]! >= until || this.long(at) >= least) break
      if (this.long(at) > this.long(longest)) longest = at
      at++
    }
    return [at, longest]
  }

  private addLine(out: Rectangles, line: number, window: Window, cell: number): boolean {
    const end = this.lines.starts[line + 1]!
    for (let at = this.after(line, window.from); at < end;) {
      const row = this.lines.order[at]!
      const begin = this.calls.begin[row]!
      if (begin > window.to) return true
      if (out.count === out.most) return false
      const i = out.count++
      out.line[i] = line
      out.row[i] = row
      out.from[i] = begin
      out.to[i] = endOf(this.calls, row)
      out.calls[i] = 1
      out.busy[i] = 1
      if (out.to[i] - begin >= cell) {
        at++
        continue
      }
      const until = (Math.floor(begin / cell) + 1) * cell
      const [next, longest] = this.run(at, end, until, cell)
      if (next > at + 1) {
        out.to[i] = endOf(this.calls, this.lines.order[next - 1]!)
        out.row[i] = this.lines.order[longest]!
        out.calls[i] = next - at
        out.busy[i] = Math.min(1, (this.index.sums[next]! - this.index.sums[at]!) / Math.max(out.to[i] - begin, 1e-9))
      }
      at = Math.max(next, at + 1)
    }
    return true
  }

  /** All lines of the window. Where they would be more than there is room for, runs are made longer. */
  fill(out: Rectangles, window: Window): void {
    const pixel = (window.to - window.from) / Math.max(window.pixels, 1)
    for (let cell = 2 ** Math.ceil(Math.log2(Math.max(pixel, 1e-3))); ; cell *= 2) {
      out.count = 0
      let room = true
      for (let line = window.first; line < window.last && room; line++) room = this.addLine(out, line, window, cell)
      if (room || cell > 2 * (window.to - window.from)) return
    }
  }
}

/** What was drawn at a time on a line: the number of the rectangle, or -1. least: how much of time a rectangle has at least. */
export function pick(drawn: Rectangles, line: number, time: number, least: number): number {
  let found = -1
  for (let i = 0; i < drawn.count; i++) {
    if (drawn.line[i] !== line) continue
    const to = Math.max(drawn.to[i]!, drawn.from[i]! + least)
    if (time >= drawn.from[i]! && time <= to) found = i
  }
  return found
}
