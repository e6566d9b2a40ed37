// What lies on the cells of the map: what was done meanwhile, the axis, and what follows the pointer. As elements: they are
// few, and a second canvas over 3,000 hosts would have 13 million pixels to clear and to hand on at each move.

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { MapAnswer } from '../../api/series.ts'
import { zone } from '../../app/choices.ts'
import { within, type Band } from '../../marks/bands.tsx'
import { axisTime, ticks } from '../../text/times.ts'
import { BOTTOM, RIGHT, cellWidth, leftOf, type Cell, type Layout } from './layout.ts'

interface Sized {
  readonly layout: Layout
  readonly width: number
}

interface Banded extends Sized {
  readonly answer: MapAnswer
  readonly bands: readonly Band[]
}

export function CellFrame({ layout, width, at, kind }: Sized & { at: Cell | undefined; kind: string }): VNode {
  if (at === undefined) return <></>
  const cell = cellWidth(layout, width)
  return (
    <rect
      class={`cell-frame ${kind}`}
      x={leftOf(width) + at.step * cell}
      y={at.row * layout.rowPx + 1}
      width={Math.max(3, cell - 1)}
      height={layout.rowPx - 2}
    />
  )
}

/** Steps, the first and the last. */
export function DraggedSteps({ layout, width, steps }: Sized & { steps: readonly [number, number] }): VNode {
  const [first, last] = steps
  const cell = cellWidth(layout, width)
  const height = layout.rows.length * layout.rowPx
  return <rect class="dragged" x={leftOf(width) + first * cell} width={(last + 1 - first) * cell} height={height} />
}

export function MapAxis({ layout, width, answer }: Sized & { answer: MapAnswer }): VNode {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const { at, step } = ticks(since, until, Math.max(2, Math.floor((width - leftOf(width)) / 100)))
  const top = layout.rows.length * layout.rowPx
  const x = (ns: bigint): number =>
    leftOf(width) + (Number(ns - since) / Number(until - since)) * (width - leftOf(width) - RIGHT)
  return (
    <>
      {at.map((ns) => (
        <g key={String(ns)}>
          <rect x={x(ns)} y={top} width={1} height={4} />
          <text x={x(ns)} y={top + BOTTOM - 6} text-anchor="middle">
            {axisTime(ns, zone.value, step)}
          </text>
        </g>
      ))}
    </>
  )
}

/** A bar over the row of its host, or over all rows, from its begin to its end; a line for a moment. */
function outlines({ layout, width, answer, bands }: Banded): VNode[] {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const [left, inner] = [leftOf(width), width - leftOf(width) - RIGHT]
  const x = (time: bigint): number =>
    left + inner * Math.min(1, Math.max(0, Number(time - since) / Math.max(1, Number(until - since))))
  const outline = (band: Band): string => {
    const row = band.host === undefined ? 0 : layout.rows.findIndex((one) => one.host === band.host)
    if (row < 0) return ''
    const [top, high] = [row * layout.rowPx, (band.host === undefined ? layout.rows.length : 1) * layout.rowPx]
    const [begin, end] = [x(band.begin), x(band.end)]
    const ends = band.end > band.begin ? `M${end - 1} ${top}h2v${high}h-2z` : ''
    return `M${begin - 1} ${top}h2v${high}h-2zM${begin} ${top}h${Math.max(2, end - begin)}v2h${-Math.max(2, end - begin)}z${ends}`
  }
  return within(bands, since, until).map((band, i) => <path key={i} class="map-band" d={outline(band)} />)
}

/** Not anew at each move of the pointer: each looks for its host among all rows. */
export function MapBands(props: Banded): VNode {
  const { layout, width, answer, bands } = props
  const drawn = useMemo(() => outlines(props), [layout, width, answer, bands])
  return <>{drawn}</>
}
