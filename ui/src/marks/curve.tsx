// Values over time as lines, with what each was at the pointer. SVG: a few hundred points at most.

import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { zone } from '../app/choices.ts'
import { choosePeriod } from '../app/period.ts'
import { t, tx } from '../text/t.ts'
import { axisTime, clockTime, ticks } from '../text/times.ts'
import { Bands, within, type Band } from './bands.tsx'
import { pathOf, roundTicks, type Point } from './points.ts'
import { useWidth } from './width.ts'

export interface Line {
  readonly label: string
  /** "line-0" to "line-5" (style.css), each a colour and a dash. */
  readonly className: string
  readonly points: readonly Point[]
  /** Points that stand out. */
  readonly bad?: readonly Point[]
}

interface Props {
  readonly lines: readonly Line[]
  readonly since: bigint
  readonly until: bigint
  /** Between two points of a line; where more is missing the line is broken. */
  readonly stepNs: number
  readonly write: (value: number) => string
  readonly label: string
  /** A value that is drawn as a line across. */
  readonly usual?: { readonly value: number; readonly label: string }
  /** What was done meanwhile. */
  readonly bands?: readonly Band[]
  /** At least so much is in the picture. */
  readonly least?: number
  readonly height?: number
  /** A drag over it chooses the period of the page. */
  readonly choosesPeriod?: boolean
}

const LEFT = 66
const RIGHT = 24
const TOP = 8
const BOTTOM = 22
const LEAST_DRAG_PX = 6

function nearest(points: readonly Point[], time: bigint, stepNs: number): Point | undefined {
  const far = (point: Point): number => Math.abs(Number(point.time - time))
  const best = points.reduce<Point | undefined>((a, b) => (a === undefined || far(b) < far(a) ? b : a), undefined)
  return best !== undefined && far(best) <= 1.6 * stepNs ? best : undefined
}

function Axes(
  props: Props & { width: number; top: number; x: (time: bigint) => number; y: (of: number) => number },
): VNode {
  const { since, until, width, top, x, y, usual, write, height = 150 } = props
  const { at, step } = ticks(since, until, Math.max(2, Math.floor((width - LEFT) / 90)))
  return (
    <>
      {roundTicks(top, 4).map((value) => (
        <g key={value}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
          <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {write(value)}
          </text>
        </g>
      ))}
      {at.map((ns) => (
        <text key={String(ns)} x={x(ns)} y={height - 6} text-anchor="middle">
          {axisTime(ns, zone.value, step)}
        </text>
      ))}
      {usual !== undefined && (
        <line class="usual" x1={LEFT} x2={width - RIGHT} y1={y(usual.value)} y2={y(usual.value)} />
      )}
    </>
  )
}

function Legend({ lines, over, stepNs, write, usual }: Props & { over: bigint | undefined }): VNode {
  return (
    <figcaption>
      {over !== undefined && <b>{clockTime(over, zone.value)}</b>}
      {lines.map((line) => {
        const at = over === undefined ? undefined : nearest(line.points, over, stepNs)
        return (
          <span key={line.label}>
            <svg width="22" height="8" aria-hidden="true">
              <path class={`curve-line ${line.className}`} d="M0 4h22" />
            </svg>{' '}
            {line.label}
            {over !== undefined && ` ${at === undefined ? '-' : write(at.value)}`}
          </span>
        )
      })}
      {usual !== undefined && <span class="quiet-text">{tx('dotted: {label}', { label: usual.label })}</span>}
    </figcaption>
  )
}

/** What the pointer is over; where a drag chooses the period, from where it began. */
function useBrush(since: bigint, length: number, inner: number, chooses: boolean) {
  const [over, setOver] = useState<bigint>()
  const [from, setFrom] = useState<bigint>()
  const timeAt = (event: PointerEvent): bigint => {
    const share = (event.clientX - (event.currentTarget as Element).getBoundingClientRect().left - LEFT) / inner
    return since + BigInt(Math.round(Math.min(1, Math.max(0, share)) * length))
  }
  const brush = {
    onPointerDown: (event: PointerEvent): void => {
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      setFrom(timeAt(event))
    },
    onPointerUp: (event: PointerEvent): void => {
      const to = timeAt(event)
      setFrom(undefined)
      if (from !== undefined && (Math.abs(Number(to - from)) / length) * inner >= LEAST_DRAG_PX) choosePeriod(from, to)
    },
  }
  const events = {
    onPointerMove: (event: PointerEvent): void => setOver(timeAt(event)),
    onPointerLeave: (): void => setOver(undefined),
    ...(chooses && brush),
  }
  return { over, from, events }
}

function Dragged(props: { a: number; b: number; height: number }): VNode {
  const { a, b, height } = props
  return <rect class="dragged" x={Math.min(a, b)} width={Math.abs(b - a)} y={TOP} height={height - TOP - BOTTOM} />
}

/** What began before the period is left of it. */
const cutTo = (points: readonly Point[], { since, until }: Props): Point[] =>
  points.filter((point) => point.time >= since && point.time <= until)

export function Curve(given: Props): VNode {
  const lines = given.lines.map((line) => ({
    ...line,
    points: cutTo(line.points, given),
    bad: cutTo(line.bad ?? [], given),
  }))
  const props = { ...given, lines }
  const { since, until, height = 150 } = props
  const [element, width] = useWidth()
  const values = lines.flatMap((line) => line.points.map((point) => point.value))
  const top = Math.max(1e-9, props.least ?? 0, (props.usual?.value ?? 0) * 1.1, ...values) * 1.05
  const inner = Math.max(1, width - LEFT - RIGHT)
  const length = Math.max(1, Number(until - since))
  const x = (time: bigint): number => LEFT + (Number(time - since) / length) * inner
  const y = (value: number): number => TOP + (1 - value / top) * (height - TOP - BOTTOM)
  const { over, from, events } = useBrush(since, length, inner, given.choosesPeriod === true)
  return (
    <figure class="curve">
      <svg
        ref={element}
        height={height}
        role="img"
        aria-label={props.label}
        class={given.choosesPeriod === true ? 'brushed-time' : ''}
        {...events}
      >
        {given.choosesPeriod === true && <title>{t('A drag chooses the period')}</title>}
        <Axes {...props} width={width} top={top} x={x} y={y} />
        <Bands
          bands={within(props.bands, since, until)}
          x={x}
          left={LEFT}
          right={width - RIGHT}
          top={TOP}
          bottom={height - BOTTOM}
        />
        {lines.map((line) => (
          <path key={line.label} class={`curve-line ${line.className}`} d={pathOf(line.points, props.stepNs, x, y)} />
        ))}
        {lines.flatMap((line) =>
          line.bad.map((point) => (
            <circle
              key={`${line.label} ${point.time}`}
              class="bad-point"
              cx={x(point.time)}
              cy={y(point.value)}
              r={3}
            />
          )),
        )}
        {from !== undefined && over !== undefined && <Dragged a={x(from)} b={x(over)} height={height} />}
        {over !== undefined && <line class="over" x1={x(over)} x2={x(over)} y1={TOP} y2={height - BOTTOM} />}
      </svg>
      <Legend {...props} over={over} />
    </figure>
  )
}
