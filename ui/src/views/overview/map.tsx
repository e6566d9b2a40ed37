// DataNodes x time. A line for each host, a cell for each step; a click chooses one, arrow keys move.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { MapAnswer } from '../../api/series.ts'
import { refine, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { choosePeriod } from '../../app/period.ts'
import type { Band } from '../../marks/bands.tsx'
import { Canvas, Pixels, type Painter } from '../../marks/canvas.tsx'
import { useWidth } from '../../marks/width.ts'
import { t } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import type { Scheme } from './colours.ts'
import { writeValue } from './fields.ts'
import {
  BOTTOM,
  RIGHT,
  ROW_PX,
  cellName,
  cellNamed,
  cellValue,
  layoutOf,
  leftOf,
  stillThere,
  timeOfStep,
  type Cell,
  type Layout,
} from './layout.ts'
import { CellFrame, DraggedSteps, MapAxis, MapBands } from './map-above.tsx'
import { paintLines, paintRows } from './map-paint.ts'

function within(event: MouseEvent, layout: Layout): Cell | undefined {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  const left = leftOf(box.width)
  const step = Math.floor(((event.clientX - box.left - left) / (box.width - left - RIGHT)) * layout.steps)
  const row = Math.floor((event.clientY - box.top) / layout.rowPx)
  if (row < 0 || row >= layout.rows.length) return undefined
  return { row, step: Math.min(layout.steps - 1, Math.max(0, step)) }
}

export const chosenCell = (answer: MapAnswer): Cell | undefined => cellNamed(answer, value('sel') ?? '')

/** Fewer steps are a click that slipped. */
const LEAST_STEPS = 3

/** A click chooses a cell, a drag over several steps the period. */
function usePointer(answer: MapAnswer, layout: Layout, choose: (cell: Cell | undefined) => void) {
  const [last, setOver] = useState<Cell>()
  const over = stillThere(layout, last)
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

function describe(answer: MapAnswer, layout: Layout, cell: Cell): string {
  const row = layout.rows[cell.row]!
  const at = cellValue(row, cell.step)
  const time = clockTime(answer.since_time_ns! + BigInt(cell.step) * BigInt(answer.step_ns!), zone.value)
  const median = layout.medians[cell.step]
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

/** The cells, with the names of their hosts where there is room. */
function Cells({ layout, scheme, width }: { layout: Layout; scheme: Scheme; width: number }): VNode {
  const { rows, steps, rowPx } = layout
  const height = rows.length * rowPx
  const lines = useCallback(
    (context: CanvasRenderingContext2D) => paintLines(context, layout, scheme),
    [layout, scheme],
  )
  const named = useCallback<Painter>((context, wide) => paintRows(context, layout, wide, scheme), [layout, scheme])
  if (rowPx === ROW_PX) return <Canvas height={height} paint={named} aria-hidden="true" />
  const [left, inner] = [leftOf(width), width - leftOf(width) - RIGHT]
  const style = { marginLeft: `${left}px`, width: `${inner}px`, height: `${height}px` }
  return <Pixels width={steps} height={rows.length} paint={lines} style={style} aria-hidden="true" />
}

export function HostMap(props: { answer: MapAnswer; scheme: Scheme; bands: readonly Band[] }): VNode {
  const { answer, scheme, bands } = props
  const layout = layoutOf(answer)
  const chosen = chosenCell(answer)
  const height = layout.rows.length * layout.rowPx + BOTTOM
  const [element, width] = useWidth()
  const choose = (cell: Cell | undefined): void => {
    if (cell) refine({ sel: cellName(answer, layout.rows[cell.row]!.host ?? '', cell.step) })
  }
  const { over, dragged, events } = usePointer(answer, layout, choose)
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
      <div class="layers" style={{ height: `${height}px` }}>
        <Cells layout={layout} scheme={scheme} width={width} />
        <svg
          ref={element}
          tabindex={0}
          role="application"
          aria-label={t('Map of hosts and time: arrow keys move, the line below tells the cell')}
          class="brushed-time"
          {...events}
          onKeyDown={onKeyDown}
        >
          <MapBands layout={layout} width={width} answer={answer} bands={bands} />
          <MapAxis layout={layout} width={width} answer={answer} />
          <CellFrame layout={layout} width={width} at={over} kind="over" />
          {dragged !== undefined && <DraggedSteps layout={layout} width={width} steps={dragged} />}
          <CellFrame layout={layout} width={width} at={chosen} kind="chosen" />
        </svg>
      </div>
      <figcaption class="quiet-text" aria-live="polite">
        {told === undefined
          ? t('A click on a cell tells more, a drag chooses the period.')
          : describe(answer, layout, told)}
      </figcaption>
    </figure>
  )
}
