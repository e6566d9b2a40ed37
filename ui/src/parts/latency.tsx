// How calls are spread over time: time across, duration upwards (logarithmic), darker where more calls were. A rectangle
// chooses calls: by a drag, or by arrow keys, Shift and Enter.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { DistributionAnswer } from '../api/answers.ts'
import { zone } from '../app/choices.ts'
import { t } from '../text/t.ts'
import { axisTime, clockTime, dayTime, ticks } from '../text/times.ts'
import { count } from '../text/units.ts'
import { Canvas, colour, type Painter } from '../marks/canvas.tsx'
import { ramp } from '../marks/ramp.ts'
import type { ChartData } from './csv.ts'
import { cellsOf, onCursorKey, useCursor, type CellRange, type Cursor, type Grid } from './cursor.ts'

export interface Area {
  readonly since: bigint
  readonly until: bigint
  readonly least: number
  readonly most: number
}

interface Props {
  readonly answer: DistributionAnswer
  readonly write: (value: number) => string
  readonly onChoose: (area: Area) => void
  /** What is counted, one and many, and where a choice leads. */
  readonly what: readonly [one: string, many: string]
  readonly hint: string
  readonly chosen?: Area
}

const LEFT = 66
const RIGHT = 24
const BOTTOM = 22
const TOP = 6
const HEIGHT = 190

interface Spot {
  readonly x: number
  readonly y: number
}

interface Scale {
  readonly first: bigint
  readonly length: number
  readonly step: number
  readonly bins: number
  readonly most: number
  readonly cellX: (width: number) => number
  readonly cellY: number
}

const stepsOf = (scale: Scale): number => Math.max(1, Math.round(scale.length / scale.step))

function scaleOf(answer: DistributionAnswer): Scale {
  const first = answer.since_time_ns ?? 0n
  const length = Math.max(1, Number((answer.until_time_ns ?? 1n) - first))
  const step = answer.step_ns ?? length
  const bins = Math.max(1, answer.edges.length - 1)
  return {
    first,
    length,
    step,
    bins,
    most: Math.max(1, ...answer.columns.flatMap((column) => column.counts)),
    cellX: (width) => ((width - LEFT - RIGHT) * step) / length,
    cellY: (HEIGHT - TOP - BOTTOM) / bins,
  }
}

function paintAxes(
  context: CanvasRenderingContext2D,
  scale: Scale,
  answer: DistributionAnswer,
  width: number,
  write: Props['write'],
): void {
  context.fillStyle = colour('text-soft')
  context.textAlign = 'right'
  const every = Math.max(1, Math.ceil(scale.bins / 5))
  for (let i = 0; i <= scale.bins; i += every)
    context.fillText(write(answer.edges[i]!), LEFT - 8, HEIGHT - BOTTOM - i * scale.cellY + 4)
  context.textAlign = 'center'
  const until = answer.until_time_ns ?? scale.first
  const { at, step } = ticks(scale.first, until, Math.max(2, Math.floor((width - LEFT) / 100)))
  for (const ns of at) {
    const x = LEFT + (Number(ns - scale.first) / scale.length) * (width - LEFT - RIGHT)
    context.fillText(axisTime(ns, zone.value, step), x, HEIGHT - 6)
  }
}

function within(event: PointerEvent): Spot {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

function areaOfCells(answer: DistributionAnswer, scale: Scale, { left, right, low, high }: CellRange): Area {
  const step = BigInt(Math.round(scale.step))
  return {
    since: scale.first + BigInt(left) * step,
    until: scale.first + BigInt(right + 1) * step,
    least: answer.edges[low]!,
    most: answer.edges[high + 1]!,
  }
}

/** Whole steps and bins: what a rectangle touches. */
function areaOf(answer: DistributionAnswer, scale: Scale, from: Spot, to: Spot, width: number): Area {
  const steps = stepsOf(scale)
  const column = (x: number): number => Math.min(steps - 1, Math.max(0, Math.floor((x - LEFT) / scale.cellX(width))))
  const bin = (y: number): number =>
    Math.min(scale.bins - 1, Math.max(0, Math.floor((HEIGHT - BOTTOM - y) / scale.cellY)))
  return areaOfCells(answer, scale, {
    left: column(Math.min(from.x, to.x)),
    right: column(Math.max(from.x, to.x)),
    low: bin(Math.max(from.y, to.y)),
    high: bin(Math.min(from.y, to.y)),
  })
}

function tell({ answer, write, what }: Props, area: Area): string {
  let calls = 0
  for (const column of answer.columns) {
    if (column.begin_time_ns < area.since || column.begin_time_ns >= area.until) continue
    column.at.forEach((bin, i) => {
      if (answer.edges[bin]! >= area.least && answer.edges[bin]! < area.most) calls += column.counts[i]!
    })
  }
  const [since, until] = [clockTime(area.since, zone.value), clockTime(area.until, zone.value)]
  return t('{since} to {until}, {least} to {most}: {calls} {what}', {
    since,
    until,
    least: write(area.least),
    most: write(area.most),
    calls: count(calls),
    what: calls === 1 ? what[0] : what[1],
  })
}

/** Keys begin at the slowest calls of the last step that has some. */
function gridOf(answer: DistributionAnswer, scale: Scale): Grid {
  const columns = stepsOf(scale)
  const last = answer.columns.findLast((column) => column.at.length > 0)
  const x = last === undefined ? columns - 1 : Math.floor(Number(last.begin_time_ns - scale.first) / scale.step)
  return {
    columns,
    rows: scale.bins,
    start: { x: Math.min(Math.max(x, 0), columns - 1), y: last === undefined ? 0 : Math.max(...last.at) },
  }
}

/** A row for each range of durations, the longest first; a column for each step. */
export function latencyData({ answer, write, what }: Pick<Props, 'answer' | 'write' | 'what'>): ChartData {
  const { edges, columns } = answer
  const bins = edges.slice(0, -1).map((_, bin) => bin)
  return {
    head: [t('duration'), ...columns.map((column) => dayTime(column.begin_time_ns, zone.value))],
    unit: what[1],
    rows: bins.reverse().map((bin) => [
      t('{least} to {most}', { least: write(edges[bin]!), most: write(edges[bin + 1]!) }),
      ...columns.map((column) => {
        const at = column.at.indexOf(bin)
        return at < 0 ? 0 : column.counts[at]!
      }),
    ]),
    write: count,
  }
}

/** Of an area that was chosen before: the steps and bins that it touches. */
function frameArea(
  context: CanvasRenderingContext2D,
  answer: DistributionAnswer,
  scale: Scale,
  area: Area,
  width: number,
): void {
  const x = (time: bigint): number => LEFT + (Number(time - scale.first) / scale.length) * (width - LEFT - RIGHT)
  const bin = (value: number): number => {
    const above = answer.edges.findIndex((edge) => edge >= value)
    return above < 0 ? scale.bins : above
  }
  const y = (value: number): number => HEIGHT - BOTTOM - bin(value) * scale.cellY
  context.strokeStyle = colour('text')
  context.lineWidth = 1.5
  context.strokeRect(x(area.since), y(area.most), x(area.until) - x(area.since), y(area.least) - y(area.most))
}

export function LatencyMap(props: Props): VNode {
  const { answer, write, onChoose, chosen } = props
  const [from, setFrom] = useState<Spot>()
  const [over, setOver] = useState<{ spot: Spot; width: number }>()
  const scale = scaleOf(answer)
  const [cursor, setCursor] = useCursor([scale.first, scale.length, scale.step, ...answer.edges].join(' '))
  const areaOfCursor = (at: Cursor): Area => areaOfCells(answer, scale, cellsOf(at))
  const framed = cursor && areaOfCursor(cursor)
  const area = over ? areaOf(answer, scale, from ?? over.spot, over.spot, over.width) : framed
  const shownZone = zone.value
  const paint = useCallback<Painter>(
    (context, width) => {
      const tone = ramp()
      context.font = `11px ${getComputedStyle(document.body).fontFamily}`
      for (const column of answer.columns) {
        const x = LEFT + (Number(column.begin_time_ns - scale.first) / scale.length) * (width - LEFT - RIGHT)
        column.at.forEach((bin, i) => {
          context.fillStyle = tone(0.12 + (0.88 * Math.log1p(column.counts[i]!)) / Math.log1p(scale.most))
          const y = HEIGHT - BOTTOM - (bin + 1) * scale.cellY
          context.fillRect(x, y, Math.max(1, scale.cellX(width) - 0.5), Math.max(1, scale.cellY - 0.5))
        })
      }
      paintAxes(context, scale, answer, width, write)
      for (const one of [chosen, framed]) if (one) frameArea(context, answer, scale, one, width)
      if (from === undefined || over === undefined) return
      context.globalAlpha = 0.25
      context.fillStyle = colour('accent')
      context.fillRect(from.x, from.y, over.spot.x - from.x, over.spot.y - from.y)
    },
    [answer, from, over, cursor, shownZone, chosen?.since, chosen?.until, chosen?.least, chosen?.most],
  )
  return (
    <figure class="curve">
      <Canvas
        height={HEIGHT}
        paint={paint}
        class="brushed"
        tabIndex={0}
        role="application"
        aria-label={t(
          'Durations over time of {count} {what}: arrow keys move, with Shift they widen the rectangle, Enter chooses it',
          { count: count(answer.columns.reduce((sum, one) => sum + one.calls, 0)), what: props.what[1] },
        )}
        onKeyDown={(event) =>
          onCursorKey(event, gridOf(answer, scale), cursor, setCursor, (at) => onChoose(areaOfCursor(at)))
        }
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setFrom(within(event))
        }}
        onPointerMove={(event) => setOver({ spot: within(event), width: event.currentTarget.clientWidth })}
        onPointerLeave={() => from === undefined && setOver(undefined)}
        onPointerUp={(event) => {
          if (from) onChoose(areaOf(answer, scale, from, within(event), event.currentTarget.clientWidth))
          setFrom(undefined)
        }}
      />
      <figcaption aria-live="polite">
        {area === undefined
          ? t('Stronger colour: more {what}. {hint}', { what: props.what[1], hint: props.hint })
          : tell(props, area)}
      </figcaption>
    </figure>
  )
}
