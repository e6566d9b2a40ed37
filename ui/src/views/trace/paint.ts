// Draws the lanes of a trace: what of them is seen, and no more.

import { colour } from '../../marks/canvas.tsx'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { pick } from '../../timeline/detail.ts'
import { endOf } from '../../timeline/calls.ts'
import type { Track } from '../../timeline/blocks.ts'
import { hasChildren } from '../../timeline/rows.ts'
import { drawArrows } from './arrows.ts'
import { BAR_PX, LINE_PX, gutterPx, scaleOf, type Frame, type Scale } from './frame.ts'
import { functionOf, hasNotes, placesOf, processOf } from './model.ts'
import { criticalWith, isDim, seenOf, type Shown } from './shown.ts'

export const MOST_RECTANGLES = 20_000
const TEXT_FROM_PX = 40
/** From so wide on a bar has a sign that folds and unfolds it, at its left. */
const SIGN_FROM_PX = 60
const SIGN_PX = 14
const CHARACTER_PX = 6.3
const LEAST_PX = 1
/** Of the line on what is slower than usual. */
const SLOW_PX = 2
/** From so wide on a bar has a sign that its call has notes. */
const NOTES_FROM_PX = 12
const NOTCH_PX = 6
const FONT = '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif'

function drawBars(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { shown, drawn, top } = frame
  const { trace } = shown
  const colours = new Map(trace.head.processes.map(({ role }) => [role, colour(role)]))
  const criticalColour = colour('critical')
  const slowColour = colour('text')
  const ground = colour('surface')
  let alpha = 1
  for (let i = 0; i < drawn.count; i++) {
    const row = drawn.row[i]!
    const left = Math.max(scale.x(drawn.from[i]!), gutterPx())
    const wide = Math.max(Math.min(scale.x(drawn.to[i]!), width) - left, LEAST_PX)
    const high = Math.max(3, BAR_PX * drawn.busy[i]!)
    const y = drawn.line[i]! * LINE_PX - top + BAR_PX - high
    const wanted = isDim(shown, row) ? 0.25 : 1
    if (wanted !== alpha) context.globalAlpha = alpha = wanted
    context.fillStyle = colours.get(processOf(trace, row).role)!
    context.fillRect(left, y, wide, high)
    if (drawn.calls[i] === 1 && shown.folds.has(row)) {
      context.fillStyle = ground
      context.fillRect(left, y + high - 4, wide, 1) // as of a stack
    }
    if (shown.usual?.isSlow(row) === true) {
      context.fillStyle = slowColour
      context.fillRect(left, y, wide, SLOW_PX)
    }
    const share = criticalWith(shown, row) / Math.max(trace.calls.duration[row]!, 1)
    if (share <= 0) continue
    context.fillStyle = criticalColour
    context.fillRect(left, y + high - 2, Math.max(wide * Math.min(share, 1), 1), 2)
  }
  context.globalAlpha = 1
}

function drawNames(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { drawn, top, shown } = frame
  context.fillStyle = colour('cell-text')
  for (let i = 0; i < drawn.count; i++) {
    const left = Math.max(scale.x(drawn.from[i]!), gutterPx())
    const wide = Math.min(scale.x(drawn.to[i]!), width) - left
    if (wide < TEXT_FROM_PX || drawn.calls[i] !== 1 || isDim(shown, drawn.row[i]!)) continue
    const room = Math.floor((wide - 6) / CHARACTER_PX)
    const text = textOf(shown, drawn.row[i]!, wide)
    const fitting = text.length > room ? `${text.slice(0, Math.max(room - 1, 1))}…` : text
    context.fillText(fitting, left + 3, drawn.line[i]! * LINE_PX - top + BAR_PX - 3)
  }
}

/** In the bars of calls that have notes, at the time of each: those on one pixel are one. */
function drawNotches(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { drawn, top, shown } = frame
  const times = shown.noteTimes
  if (times === undefined) return
  const [ground, tone] = [colour('surface'), colour('mark')]
  for (let i = 0; i < drawn.count; i++) {
    const row = drawn.row[i]!
    if (drawn.calls[i] !== 1 || !hasNotes(shown.trace, row)) continue
    const begin = shown.trace.calls.begin[row]!
    const y = drawn.line[i]! * LINE_PX - top
    const [first, end] = placesOf(times, row)
    let last = -1
    for (let at = first; at < end; at++) {
      const x = Math.round(scale.x(begin + times.after[at]!))
      if (x === last || x < gutterPx() || x > width) continue
      last = x
      context.fillStyle = ground
      context.fillRect(x - 1, y, 3, NOTCH_PX)
      context.fillStyle = tone
      context.fillRect(x, y, 1, NOTCH_PX)
    }
  }
}

/** A call that has notes has a sign at its right; the chosen one a tick at the time of each. */
function drawNotes(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { drawn, top, shown } = frame
  context.fillStyle = colour('cell-text')
  for (let i = 0; i < drawn.count; i++) {
    if (drawn.calls[i] !== 1 || !hasNotes(shown.trace, drawn.row[i]!)) continue
    const right = Math.min(scale.x(drawn.to[i]!), width)
    if (right - Math.max(scale.x(drawn.from[i]!), gutterPx()) < NOTES_FROM_PX) continue
    context.fillText('◆', right - NOTES_FROM_PX, drawn.line[i]! * LINE_PX - top + BAR_PX - 3)
  }
  const line = shown.trace.lines.line[shown.chosen]!
  if (line < 0) return
  const y = line * LINE_PX - top
  for (const { at } of shown.notes) {
    const x = Math.round(scale.x(at))
    if (x < gutterPx() || x > width) continue
    context.fillStyle = colour('surface')
    context.fillRect(x - 2, y, 4, BAR_PX)
    context.fillStyle = colour('mark')
    context.fillRect(x - 1, y, 2, BAR_PX)
  }
}

/** In a bar: the sign, what is folded into the call, its name. */
function textOf(shown: Shown, row: number, wide: number): string {
  const name = visible(functionOf(shown.trace, row))
  if (wide < SIGN_FROM_PX || !hasChildren(shown.trace.tree.end, row)) return name
  if (!shown.folds.has(row)) return `▾ ${name}`
  const { calls, self } = shown.sums.of(row)
  return `▸ +${count(calls)} · ${duration(self)}  ${name}`
}

/** The first track that reaches below a line. */
function trackAt(tracks: readonly Track[], line: number): number {
  let low = 0
  let high = tracks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (tracks[middle]!.first + tracks[middle]!.lines > line) high = middle
    else low = middle + 1
  }
  return low
}

function drawTracks(context: CanvasRenderingContext2D, frame: Frame, width: number, height: number): void {
  const { trace } = frame.shown
  const { tracks } = trace.lines
  const room = Math.floor((gutterPx() - 12) / CHARACTER_PX)
  context.fillStyle = colour('surface')
  context.fillRect(0, 0, gutterPx() - 2, height)
  for (let i = trackAt(tracks, Math.floor(frame.top / LINE_PX)); i < tracks.length; i++) {
    const track = tracks[i]!
    const y = track.first * LINE_PX - frame.top
    if (y > height) break
    const { process, role, host, pid } = trace.head.processes[track.process]!
    const text = visible(`${host ?? '-'} ${process}${pid === undefined ? '' : `/${pid}`}`)
    context.fillStyle = colour('line')
    context.fillRect(0, y - 1, width, 1)
    context.fillStyle = colour(role)
    context.fillRect(0, y, 4, track.lines * LINE_PX - 2)
    context.fillStyle = colour('text')
    const seen = Math.min(Math.max(y, 0), y + (track.lines - 1) * LINE_PX)
    context.fillText(text.length > room ? `${text.slice(0, room - 1)}…` : text, 9, seen + BAR_PX - 3, gutterPx() - 14)
  }
}

function drawChosen(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { trace } = frame.shown
  const chosen = seenOf(frame.shown, frame.shown.chosen)
  const left = scale.x(trace.calls.begin[chosen]!)
  const right = scale.x(endOf(trace.calls, chosen))
  if (right < gutterPx() || left > width) return
  context.strokeStyle = colour('text')
  context.lineWidth = 2
  const from = Math.max(left, gutterPx())
  const wide = Math.max(Math.min(right, width) - from, 3)
  context.strokeRect(from, trace.lines.line[chosen]! * LINE_PX - frame.top + 1, wide, BAR_PX - 2)
}

export function paintLanes(context: CanvasRenderingContext2D, width: number, height: number, frame: Frame): void {
  const scale = scaleOf(frame, width)
  const { from, to } = frame.shown.zoom
  frame.detail.fill(frame.drawn, {
    from,
    to,
    first: Math.max(0, Math.floor(frame.top / LINE_PX)),
    last: Math.min(frame.shown.trace.lines.count, Math.ceil((frame.top + height) / LINE_PX)),
    pixels: width - gutterPx(),
  })
  context.font = FONT
  drawBars(context, frame, scale, width)
  drawNames(context, frame, scale, width)
  drawArrows(context, frame, scale, width)
  drawTracks(context, frame, width, height)
  drawChosen(context, frame, scale, width)
  drawNotches(context, frame, scale, width)
  drawNotes(context, frame, scale, width)
}

/** The number of the rectangle at a point of what was drawn last, or -1. */
export function pickAt(frame: Frame, width: number, x: number, y: number): number {
  if (x < gutterPx()) return -1
  const { perPixel } = scaleOf(frame, width)
  const time = frame.shown.zoom.from + (x - gutterPx()) * perPixel
  return pick(frame.drawn, Math.floor((y + frame.top) / LINE_PX), time, LEAST_PX * perPixel)
}

/** Is this the sign of a rectangle that was drawn? */
export function isSign(frame: Frame, width: number, at: number, x: number): boolean {
  const scale = scaleOf(frame, width)
  const { drawn, shown } = frame
  const left = Math.max(scale.x(drawn.from[at]!), gutterPx())
  const wide = Math.min(scale.x(drawn.to[at]!), width) - left
  if (drawn.calls[at] !== 1 || wide < SIGN_FROM_PX || x > left + SIGN_PX) return false
  return hasChildren(shown.trace.tree.end, drawn.row[at]!)
}
