// DataNodes x time. A line for each host, a cell for each step; a click chooses one, arrow keys move.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { SeriesAnswer, SeriesRow } from '../../api/answers.ts'
import { refine, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { choosePeriod } from '../../app/period.ts'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import { t } from '../../text/t.ts'
import { axisTime, clockTime, ticks } from '../../text/times.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import type { Band } from '../../marks/bands.tsx'
import { palette, type Scheme } from './colours.ts'
import { writeValue } from './fields.ts'
import { peerShare } from './slow.ts'

const LEFT = 190
const LEFT_NARROW = 96
const NARROW = 600
const RIGHT = 70
const BOTTOM = 24
const ROW_PX = 20
const THIN_ROW_PX = 3

/** Names of hosts take no more than a quarter of a telephone. */
const leftOf = (width: number): number => (width < NARROW ? LEFT_NARROW : LEFT)

export interface Cell {
  readonly row: number
  readonly step: number
}

interface Layout {
  readonly rows: readonly SeriesRow[]
  readonly steps: number
  readonly rowPx: number
  readonly medians: ReadonlyMap<number, number>
  readonly most: number
}

export function layoutOf(answer: SeriesAnswer): Layout {
  const since = answer.since_time_ns ?? 0n
  const until = answer.until_time_ns ?? 0n
  const steps = Math.max(1, Math.round(Number(until - since) / (answer.step_ns ?? 1)))
  const peers = answer.peers?.[0]
  return {
    rows: answer.series,
    steps,
    rowPx: answer.series.length > 60 ? THIN_ROW_PX : ROW_PX,
    medians: new Map(peers?.at.map((step, i) => [step, peers.medians[i]!])),
    most: Math.max(1, ...answer.series.flatMap((row) => row.values)),
  }
}

export function cellValue(row: SeriesRow, step: number): { value: number; calls: number } | undefined {
  const i = row.at.indexOf(step)
  return i < 0 ? undefined : { value: row.values[i]!, calls: row.calls[i]! }
}

function shareOf(layout: Layout, scheme: Scheme, step: number, of: number): number {
  if (scheme === 'absolute') return Math.log1p(of) / Math.log1p(layout.most)
  return peerShare(of / Math.max(layout.medians.get(step) ?? of, 1))
}

function paintRow(
  context: CanvasRenderingContext2D,
  layout: Layout,
  number: number,
  width: number,
  scheme: Scheme,
): void {
  const row = layout.rows[number]!
  const colours = palette()
  const cell = (width - leftOf(width) - RIGHT) / layout.steps
  const top = number * layout.rowPx
  row.at.forEach((step, i) => {
    context.fillStyle = colours(scheme, shareOf(layout, scheme, step, row.values[i]!))
    context.fillRect(leftOf(width) + step * cell, top + 0.5, Math.max(1, cell - 0.6), layout.rowPx - 1)
  })
  if (layout.rowPx < ROW_PX) return
  context.fillStyle = colour('text')
  context.textAlign = 'right'
  context.fillText(fitted(context, visible(row.host ?? ''), leftOf(width) - 16), leftOf(width) - 8, top + 14)
  context.textAlign = 'left'
  context.fillStyle = colour((row.ratio ?? 0) >= 1.5 ? 'slower' : 'text-soft')
  if (row.ratio !== undefined) context.fillText(`× ${row.ratio.toFixed(2)}`, width - RIGHT + 8, top + 14)
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  let shown = text
  while (shown.length > 4 && context.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`
  return shown
}

function paintAxis(context: CanvasRenderingContext2D, answer: SeriesAnswer, width: number, height: number): void {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const { at, step } = ticks(since, until, Math.max(2, Math.floor((width - leftOf(width)) / 100)))
  context.fillStyle = colour('text-soft')
  context.textAlign = 'center'
  for (const ns of at) {
    const x = leftOf(width) + (Number(ns - since) / Number(until - since)) * (width - leftOf(width) - RIGHT)
    context.fillRect(x, height - BOTTOM, 1, 4)
    context.fillText(axisTime(ns, zone.value, step), x, height - 6)
  }
}

function paintFrame(context: CanvasRenderingContext2D, layout: Layout, at: Cell | undefined, name: string): void {
  if (at === undefined) return
  const width = context.canvas.clientWidth
  const cell = (width - leftOf(width) - RIGHT) / layout.steps
  context.strokeStyle = colour(name)
  context.lineWidth = 2
  const top = at.row * layout.rowPx + 1
  context.strokeRect(leftOf(width) + at.step * cell, top, Math.max(3, cell - 1), layout.rowPx - 2)
}

function paintDragged(
  context: CanvasRenderingContext2D,
  layout: Layout,
  [first, last]: readonly [number, number],
  width: number,
): void {
  const cell = (width - leftOf(width) - RIGHT) / layout.steps
  context.globalAlpha = 0.2
  context.fillStyle = colour('accent')
  context.fillRect(leftOf(width) + first * cell, 0, (last + 1 - first) * cell, layout.rows.length * layout.rowPx)
  context.globalAlpha = 1
}

/** A bar over the row of its host, or over all rows, from its begin to its end; a line for a moment. */
function paintBands(
  context: CanvasRenderingContext2D,
  layout: Layout,
  answer: SeriesAnswer,
  bands: readonly Band[],
  width: number,
): void {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const [left, inner] = [leftOf(width), width - leftOf(width) - RIGHT]
  const x = (time: bigint): number =>
    left + inner * Math.min(1, Math.max(0, Number(time - since) / Math.max(1, Number(until - since))))
  context.fillStyle = colour('text')
  for (const band of bands.filter((one) => one.end >= since && one.begin <= until)) {
    const row = band.host === undefined ? 0 : layout.rows.findIndex((one) => one.host === band.host)
    if (row < 0) continue
    const [top, rows] = [row * layout.rowPx, band.host === undefined ? layout.rows.length : 1]
    const [begin, end] = [x(band.begin), x(band.end)]
    context.fillRect(begin - 1, top, 2, rows * layout.rowPx)
    context.fillRect(begin, top, Math.max(2, end - begin), 2)
    if (band.end > band.begin) context.fillRect(end - 1, top, 2, rows * layout.rowPx)
  }
}

function within(event: MouseEvent, layout: Layout): Cell | undefined {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  const left = leftOf(box.width)
  const step = Math.floor(((event.clientX - box.left - left) / (box.width - left - RIGHT)) * layout.steps)
  const row = Math.floor((event.clientY - box.top) / layout.rowPx)
  if (row < 0 || row >= layout.rows.length) return undefined
  return { row, step: Math.min(layout.steps - 1, Math.max(0, step)) }
}

export function chosenCell(answer: SeriesAnswer): Cell | undefined {
  const [host, step] = (value('sel') ?? '').split('@')
  const row = answer.series.findIndex((one) => one.host === host)
  return row < 0 ? undefined : { row, step: Number(step ?? 0) }
}

/** Fewer steps are a click that slipped. */
const LEAST_STEPS = 3

/** The begin of a step, or the end of the period. */
function timeOfStep(answer: SeriesAnswer, step: number): bigint {
  const at = answer.since_time_ns! + BigInt(step) * BigInt(answer.step_ns!)
  return at < answer.until_time_ns! ? at : answer.until_time_ns!
}

/** A click chooses a cell, a drag over several steps the period. */
function usePointer(answer: SeriesAnswer, layout: Layout, choose: (cell: Cell | undefined) => void) {
  const [over, setOver] = useState<Cell>()
  const [from, setFrom] = useState<number>()
  const spanned = from !== undefined && over !== undefined && Math.abs(over.step - from) + 1 >= LEAST_STEPS
  return {
    over,
    /** Steps, the first before the last. */
    dragged: spanned ? ([Math.min(from, over.step), Math.max(from, over.step)] as const) : undefined,
    events: {
      onPointerDown: (event: PointerEvent): void => {
        ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
        setOver(within(event, layout))
        setFrom(within(event, layout)?.step)
      },
      onPointerMove: (event: PointerEvent): void => {
        const cell = within(event, layout)
        if (cell !== undefined || from === undefined) setOver(cell)
      },
      onPointerLeave: (): void => setOver(undefined),
      onPointerUp: (event: PointerEvent): void => {
        if (spanned)
          choosePeriod(timeOfStep(answer, Math.min(from, over.step)), timeOfStep(answer, Math.max(from, over.step) + 1))
        else if (from !== undefined) choose(within(event, layout))
        setFrom(undefined)
      },
    },
  }
}

function describe(answer: SeriesAnswer, layout: Layout, cell: Cell): string {
  const row = layout.rows[cell.row]!
  const at = cellValue(row, cell.step)
  const time = clockTime(answer.since_time_ns! + BigInt(cell.step) * BigInt(answer.step_ns!), zone.value)
  const median = layout.medians.get(cell.step)
  if (at === undefined) return t('{host} at {time}: no calls', { host: visible(row.host ?? ''), time })
  const usual = median === undefined ? '' : t('; median of hosts {field}', { field: writeValue(answer.field, median) })
  return t('{host} at {time}: {value}, {calls} calls{usual}', {
    host: visible(row.host ?? ''),
    time,
    value: writeValue(answer.field, at.value),
    calls: count(at.calls),
    usual,
  })
}

const MOVES: Readonly<Record<string, readonly [rows: number, steps: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

export function HostMap(props: { answer: SeriesAnswer; scheme: Scheme; bands: readonly Band[] }): VNode {
  const { answer, scheme, bands } = props
  const layout = layoutOf(answer)
  const chosen = chosenCell(answer)
  const height = layout.rows.length * layout.rowPx + BOTTOM
  const shownZone = zone.value
  const choose = (cell: Cell | undefined): void => {
    if (cell) refine({ sel: `${layout.rows[cell.row]!.host ?? ''}@${cell.step}` })
  }
  const { over, dragged, events } = usePointer(answer, layout, choose)
  const paint = useCallback<Painter>(
    (context, width, high) => {
      context.font = `12px ${getComputedStyle(document.body).fontFamily}`
      for (let row = 0; row < layout.rows.length; row++) paintRow(context, layout, row, width, scheme)
      paintBands(context, layout, answer, bands, width)
      paintAxis(context, answer, width, high)
      paintFrame(context, layout, over, 'line-strong')
      if (dragged) paintDragged(context, layout, dragged, width)
      paintFrame(context, layout, chosen, 'text')
    },
    [
      answer,
      scheme,
      over?.row,
      over?.step,
      dragged?.join(),
      chosen?.row,
      chosen?.step,
      shownZone,
      bands.map((band) => band.label).join(),
    ],
  )

  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[event.key]
    if (move === undefined) return
    event.preventDefault()
    const from = chosen ?? { row: 0, step: layout.steps - 1 }
    choose({
      row: Math.min(layout.rows.length - 1, Math.max(0, from.row + move[0])),
      step: Math.min(layout.steps - 1, Math.max(0, from.step + move[1])),
    })
  }
  const told = over ?? chosen
  return (
    <figure class="chart">
      <Canvas
        height={height}
        paint={paint}
        tabIndex={0}
        role="application"
        aria-label={t('Map of hosts and time: arrow keys move, the line below tells the cell')}
        class="brushed-time"
        {...events}
        onKeyDown={onKeyDown}
      />
      <figcaption class="quiet-text" aria-live="polite">
        {told === undefined
          ? t('A click on a cell tells more, a drag chooses the period.')
          : describe(answer, layout, told)}
      </figcaption>
    </figure>
  )
}
