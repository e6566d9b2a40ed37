// The calls of a trace as rows: the tree at the left, time at the right. Only the rows that are seen are elements.

import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TraceAnswer } from '../../api/answers.ts'
import { refine, value } from '../../app/address.ts'
import { duration } from '../../text/units.ts'
import { hasChildren, shownRows } from '../../timeline/rows.ts'
import { clampZoom, formatZoom, pan, parseZoom, zoomAround, type Zoom } from '../../timeline/zoom.ts'
import { Minimap } from './minimap.tsx'
import { SpanPanel } from './panel.tsx'
import { placeSpans, textOf, type Placed } from './placed.ts'
import { Row, ROW_PX } from './row.tsx'

const ROWS_SEEN = 26
const SPARE_ROWS = 6
const TICKS = [0, 0.25, 0.5, 0.75, 1]

function foldedRows(): Set<number> {
  return new Set((value('fold') ?? '').split(',').filter(Boolean).map(Number))
}

/** What the keys of the rows do, with the rows focused. */
function keyActions(
  zoom: Zoom,
  length: number,
  spans: readonly Placed[],
  rows: readonly number[],
  chosen: number,
): Readonly<Record<string, () => { zoom?: Zoom; chosen?: number; fold?: number }>> {
  const middle = (zoom.from + zoom.to) / 2
  const at = Math.max(0, rows.indexOf(chosen))
  const move = (by: number) => () => ({ chosen: rows[Math.min(rows.length - 1, Math.max(0, at + by))]! })
  const span = spans[chosen]
  return {
    w: () => ({ zoom: zoomAround(zoom, middle, 0.7, length) }),
    s: () => ({ zoom: zoomAround(zoom, middle, 1 / 0.7, length) }),
    a: () => ({ zoom: pan(zoom, -0.2, length) }),
    d: () => ({ zoom: pan(zoom, 0.2, length) }),
    '+': () => ({ zoom: zoomAround(zoom, middle, 0.7, length) }),
    '-': () => ({ zoom: zoomAround(zoom, middle, 1 / 0.7, length) }),
    '0': () => ({ zoom: { from: 0, to: length } }),
    f: () => (span ? { zoom: { from: span.begin, to: span.begin + Math.max(span.duration, 1) } } : {}),
    j: move(1),
    k: move(-1),
    ArrowDown: move(1),
    ArrowUp: move(-1),
    PageDown: move(ROWS_SEEN - 2),
    PageUp: move(2 - ROWS_SEEN),
    Home: move(-rows.length),
    End: move(rows.length),
    ArrowLeft: () => ({ fold: chosen }),
    ArrowRight: () => ({ fold: chosen }),
  }
}

function Axis({ zoom }: { zoom: Zoom }): VNode {
  return (
    <div class="axis" aria-hidden="true">
      {TICKS.map((share) => (
        <span key={share} style={{ left: `${share * 100}%` }}>
          {duration(zoom.from + share * (zoom.to - zoom.from))}
        </span>
      ))}
    </div>
  )
}

function toggleFold(spans: readonly Placed[], row: number): void {
  const folded = foldedRows()
  if (!folded.delete(row) && hasChildren(spans, row)) folded.add(row)
  refine({ fold: [...folded].sort((a, b) => a - b).join(',') })
}

/** Some calls are asked for: the others stay, and step back. */
function isDim({ span }: Placed, find: string, onlyCritical: boolean): boolean {
  return (onlyCritical && span.critical_ns === 0) || (find !== '' && !textOf(span).includes(find))
}

function SeenRows(props: {
  spans: readonly Placed[]
  rows: readonly number[]
  top: number
  zoom: Zoom
  chosen: number
}): VNode {
  const { spans, rows, zoom, chosen } = props
  const find = (value('find') ?? '').toLowerCase()
  const onlyCritical = value('path') === 'critical'
  const folded = foldedRows()
  const first = Math.max(0, Math.floor(props.top / ROW_PX) - SPARE_ROWS)
  const seen = rows.slice(first, first + ROWS_SEEN + 2 * SPARE_ROWS)
  return (
    <div class="rows-all" style={{ height: `${rows.length * ROW_PX}px` }} role="presentation">
      {seen.map((number, i) => (
        <Row
          key={number}
          spans={spans}
          number={number}
          top={(first + i) * ROW_PX}
          zoom={zoom}
          chosen={number === chosen}
          dim={isDim(spans[number]!, find, onlyCritical)}
          folded={folded.has(number)}
          onChoose={() => refine({ sel: String(number) })}
          onFold={() => toggleFold(spans, number)}
        />
      ))}
    </div>
  )
}

export function Timeline({ answer }: { answer: TraceAnswer }): VNode {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const spans = useMemo(() => placeSpans(answer), [answer])
  const length = Math.max(answer.duration_ns, 1)
  const zoom = parseZoom(value('w'), length)
  const folds = value('fold') ?? ''
  const rows = useMemo(() => shownRows(spans, foldedRows()), [spans, folds])
  const asked = Number(value('sel') ?? '0')
  const chosen = Number.isInteger(asked) && asked >= 0 && asked < spans.length ? asked : 0

  const setZoom = (to: Zoom): void => refine({ w: formatZoom(clampZoom(to, length), length) })
  useEffect(() => {
    const at = rows.indexOf(chosen) * ROW_PX
    const element = box.current!
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + ROW_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = at + ROW_PX - element.clientHeight
  }, [chosen, rows])

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const action = keyActions(zoom, length, spans, rows, chosen)[event.key]
    if (action === undefined) return
    event.preventDefault()
    const done = action()
    if (done.zoom) setZoom(done.zoom)
    if (done.chosen !== undefined) refine({ sel: String(done.chosen) })
    if (done.fold !== undefined) toggleFold(spans, done.fold)
  }
  return (
    <div class="beside trace">
      <div class="card timeline">
        <Minimap spans={spans} length={length} zoom={zoom} onZoom={setZoom} />
        <div class="timeline-head">
          <span class="tree-head">call</span>
          <Axis zoom={zoom} />
        </div>
        <div
          class="rows"
          ref={box}
          tabIndex={0}
          role="listbox"
          aria-label={`${spans.length} calls: arrows and j k move, left and right fold, w a s d zoom and move, 0 shows all`}
          aria-activedescendant={`span-${chosen}`}
          style={{ height: `${Math.min(rows.length, ROWS_SEEN) * ROW_PX}px` }}
          onScroll={(event) => setTop(event.currentTarget.scrollTop)}
          onKeyDown={onKeyDown}
        >
          <SeenRows spans={spans} rows={rows} top={top} zoom={zoom} chosen={chosen} />
        </div>
      </div>
      {spans[chosen] && <SpanPanel span={spans[chosen].span} begin={answer.begin_time_ns} />}
    </div>
  )
}
