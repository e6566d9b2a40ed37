// Traces by begin and duration; a rectangle of it becomes the filter: by a drag, or by arrow keys, Shift and Enter.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { TraceRow } from '../../api/answers.ts'
import { linkTo } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import { logDomain, logPlace } from '../../marks/strip.tsx'
import { cellsOf, onCursorKey, useCursor, type Cursor } from '../../parts/cursor.ts'
import type { Area } from '../../parts/latency.tsx'
import { t } from '../../text/t.ts'
import { axisTime, clockTime, ticks } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'

const HEIGHT = 170
const LEFT = 64
const BOTTOM = 22
const TOP = 8
const RIGHT = 12

interface Point {
  readonly x: number
  readonly y: number
}

interface Scale {
  /** Of times and durations, from where to where. */
  readonly bounds: string
  readonly place: (row: TraceRow, width: number) => Point
  readonly time: (x: number, width: number) => bigint
  readonly length: (y: number) => number
  readonly paintAxes: Painter
}

const INNER = HEIGHT - TOP - BOTTOM

function scaleOf(rows: readonly TraceRow[]): Scale {
  const begins = rows.map((row) => row.begin_time_ns)
  const first = begins.reduce((a, b) => (b < a ? b : a))
  const last = begins.reduce((a, b) => (b > a ? b : a)) + 1_000_000n
  const domain = logDomain(rows.map((row) => row.duration_ns))
  const span = Number(last - first)
  const inner = (width: number): number => width - LEFT - RIGHT
  return {
    bounds: [first, last, domain.from, domain.to].join(' '),
    place: (row, width) => ({
      x: LEFT + (Number(row.begin_time_ns - first) / span) * inner(width),
      y: TOP + (1 - logPlace(domain, row.duration_ns)) * INNER,
    }),
    time: (x, width) => first + BigInt(Math.round(((x - LEFT) / inner(width)) * span)),
    length: (y) => domain.from * (domain.to / domain.from) ** (1 - (y - TOP) / INNER),
    paintAxes: (context, width) => {
      context.font = `11px ${getComputedStyle(document.body).fontFamily}`
      context.fillStyle = colour('text-soft')
      context.strokeStyle = colour('line')
      context.textAlign = 'right'
      for (let ns = 10 ** Math.ceil(Math.log10(domain.from)); ns <= domain.to; ns *= 10) {
        const y = Math.round(TOP + (1 - logPlace(domain, ns)) * INNER) + 0.5
        context.strokeRect(LEFT, y, inner(width), 0)
        context.fillText(duration(ns).replace(/\.0+ /, ' '), LEFT - 8, y + 4)
      }
      context.textAlign = 'center'
      const { at, step } = ticks(first, last, Math.max(2, Math.floor(width / 110)))
      for (const ns of at) {
        const x = LEFT + (Number(ns - first) / span) * inner(width)
        context.fillText(axisTime(ns, zone.value, step), x, HEIGHT - 6)
      }
    },
  }
}

/** What was chosen before. */
function frameArea(context: CanvasRenderingContext2D, scale: Scale, area: Area, width: number): void {
  const place = (begin: bigint, length: number): Point =>
    scale.place({ begin_time_ns: begin, duration_ns: length } as TraceRow, width)
  const [low, high] = [place(area.since, area.least), place(area.until, area.most)]
  context.globalAlpha = 1
  context.strokeStyle = colour('text')
  context.lineWidth = 1.5
  context.strokeRect(low.x, high.y, high.x - low.x, low.y - high.y)
}

interface Brush {
  readonly from: Point
  readonly to: Point
}

function within(event: PointerEvent): Point {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

/** Of a rectangle. A click is none: it opens the trace that is near. */
function areaOf(rows: readonly TraceRow[], { from, to }: Brush, width: number): Area | undefined {
  const scale = scaleOf(rows)
  if (Math.abs(to.x - from.x) < 6 && Math.abs(to.y - from.y) < 6) {
    const near = (row: TraceRow): number => {
      const { x, y } = scale.place(row, width)
      return Math.hypot(x - to.x, y - to.y)
    }
    const best = rows.reduce((a, b) => (near(b) < near(a) ? b : a))
    if (near(best) < 12) location.hash = linkTo('trace', best.trace)
    return undefined
  }
  return {
    since: scale.time(Math.min(from.x, to.x), width),
    until: scale.time(Math.max(from.x, to.x), width),
    least: Math.max(0, Math.floor(scale.length(Math.max(from.y, to.y)))),
    most: Math.ceil(scale.length(Math.min(from.y, to.y))),
  }
}

/** Cells for the keys: large enough to be crossed quickly, small enough to tell traces apart. */
const GRID = { columns: 24, rows: 12, start: { x: 23, y: 11 } }
/** The rectangle of cells is the same for any width. */
const ANY_WIDTH = 1000

function brushOf(cursor: Cursor, width: number): Brush {
  const { left, right, low, high } = cellsOf(cursor)
  const x = (column: number): number => LEFT + (column / GRID.columns) * (width - LEFT - RIGHT)
  const y = (row: number): number => TOP + (1 - row / GRID.rows) * INNER
  return { from: { x: x(left), y: y(high + 1) }, to: { x: x(right + 1), y: y(low) } }
}

function tell(rows: readonly TraceRow[], area: Area): string {
  const { since, until, least, most } = area
  const within = rows.filter(
    (row) =>
      row.begin_time_ns >= since && row.begin_time_ns < until && row.duration_ns >= least && row.duration_ns <= most,
  ).length
  return t('{since} to {until}, {least} to {most}: {calls} {what}', {
    since: clockTime(since, zone.value),
    until: clockTime(until, zone.value),
    least: duration(least),
    most: duration(most),
    calls: count(within),
    what: within === 1 ? t('trace') : t('traces'),
  })
}

function fillBrush(context: CanvasRenderingContext2D, { from, to }: Brush): void {
  context.globalAlpha = 0.15
  context.fillStyle = colour('accent')
  context.fillRect(from.x, from.y, to.x - from.x, to.y - from.y)
}

export function Scatter(props: {
  rows: readonly TraceRow[]
  chosen: Area | undefined
  onChoose: (area: Area) => void
}): VNode {
  const { rows, chosen, onChoose } = props
  const [brush, setBrush] = useState<Brush>()
  const [cursor, setCursor] = useCursor(scaleOf(rows).bounds)
  const framed = cursor && areaOf(rows, brushOf(cursor, ANY_WIDTH), ANY_WIDTH)
  const shownZone = zone.value
  const paint = useCallback<Painter>(
    (context, width, height) => {
      const scale = scaleOf(rows)
      scale.paintAxes(context, width, height)
      context.globalAlpha = 0.55
      for (const row of rows) {
        const { x, y } = scale.place(row, width)
        context.fillStyle = colour(row.role)
        context.beginPath()
        context.arc(x, y, 3, 0, 7)
        context.fill()
      }
      if (chosen) frameArea(context, scale, chosen, width)
      if (framed) frameArea(context, scale, framed, width)
      if (brush) fillBrush(context, brush)
    },
    [rows, brush, cursor, shownZone, chosen?.since, chosen?.until, chosen?.least, chosen?.most],
  )

  const choose = (brush: Brush, width: number): void => {
    const area = areaOf(rows, brush, width)
    if (area !== undefined) onChoose(area)
  }
  return (
    <figure class="chart">
      <Canvas
        height={HEIGHT}
        paint={paint}
        tabIndex={0}
        role="application"
        aria-label={t(
          '{rows} traces by begin and duration; the table below has them. Arrow keys move, with Shift they widen the rectangle, Enter chooses it',
          { rows: count(rows.length) },
        )}
        class="brushed"
        onKeyDown={(event) =>
          onCursorKey(event, GRID, cursor, setCursor, (at) => choose(brushOf(at, ANY_WIDTH), ANY_WIDTH))
        }
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setBrush({ from: within(event), to: within(event) })
        }}
        onPointerMove={(event) => setBrush((now) => now && { ...now, to: within(event) })}
        onPointerUp={(event) => {
          const width = event.currentTarget.clientWidth
          if (brush) choose(brush, width)
          setBrush(undefined)
        }}
      />
      <figcaption class="quiet-text" aria-live="polite">
        {framed === undefined
          ? t(
              'A click opens a trace; a rectangle, or arrow keys and Enter, choose some, and tell what differs in them.',
            )
          : tell(rows, framed)}
      </figcaption>
    </figure>
  )
}
