// The calls of a trace in the lanes of their processes: a canvas, for there may be a million.

import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Canvas, type Painter } from '../../marks/canvas.tsx'
import { t } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Detail, Rectangles } from '../../timeline/detail.ts'
import { pan, zoomAround } from '../../timeline/zoom.ts'
import { Axis } from './axis.tsx'
import { functionOf, resolutionOf, type Trace } from './model.ts'
import { FoldedNote } from './folded.tsx'
import { LINE_PX, gutterPx, type Frame } from './frame.ts'
import { MOST_RECTANGLES, isSign, paintLanes, pickAt } from './paint.ts'
import { apply, choose, commonKey, fit, isSeen, seenOf, setZoom, type Done, type Shown } from './shown.ts'

const HEIGHT = 600
const WHEEL_PER_DOUBLE = 240
const DRAG_PX = 4

function firstSeenBelow({ tree, lines }: Trace, row: number): number | undefined {
  for (let at = row + 1; at < tree.end[row]!; at = tree.end[at]!) if (lines.line[at]! >= 0) return at
  return undefined
}

/** Callers are above, calls below; before and behind on its line. */
function keyAction(shown: Shown, key: string): Done | undefined {
  const { trace } = shown
  const { order, line, starts } = trace.lines
  const chosen = seenOf(shown, shown.chosen)
  /** The next one that is seen, up or down; the last one stays. */
  const step = (by: 1 | -1): Done => {
    let row = chosen + by
    while (line[row]! < 0) row += by
    return { chosen: line[row] === undefined ? chosen : row }
  }
  const beside = (by: number): Done => {
    const first = starts[line[chosen]!]!
    const last = starts[line[chosen]! + 1]! - 1
    let at = first
    while (at < last && order[at] !== chosen) at++
    return { chosen: order[Math.min(last, Math.max(first, at + by))]! }
  }
  switch (key) {
    case 'ArrowUp':
      return { chosen: Math.max(trace.calls.parent[chosen]!, 0) }
    case 'ArrowDown':
      return { chosen: firstSeenBelow(trace, chosen) ?? chosen }
    case 'ArrowLeft':
    case ',':
      return beside(-1)
    case 'ArrowRight':
    case '.':
      return beside(1)
    case 'j':
      return step(1)
    case 'k':
      return step(-1)
    default:
      return commonKey(shown, key)
  }
}

function Tools({ shown }: { shown: Shown }): VNode {
  const keys = [
    ['+', t('Zoom in'), '+'],
    ['-', t('Zoom out'), '−'],
    ['a', t('Earlier'), '‹'],
    ['d', t('Later'), '›'],
    ['f', t('Fit the chosen call'), t('fit')],
    ['0', t('Show all'), t('all')],
    ['m', t('Sum what is shown'), 'Σ'],
    ['o', t('Fold or unfold the chosen call'), t('▸ fold')],
    ['O', t('Fold all calls of its function, or unfold them'), t('▸▸ fold all')],
  ] as const
  return (
    <div class="lane-tools" role="group" aria-label={t('Zoom and move')}>
      {keys.map(([key, label, text]) => (
        <button
          key={key}
          type="button"
          class="small quiet"
          aria-label={label}
          title={label}
          onClick={() => apply(shown, keyAction(shown, key)!)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

function hint(frame: Frame, at: number): string {
  const { trace } = frame.shown
  const row = frame.drawn.row[at]!
  const calls = frame.drawn.calls[at]!
  const name = visible(functionOf(trace, row))
  const long = duration(trace.calls.duration[row]!, resolutionOf(trace, row))
  if (calls === 1 && frame.shown.folds.has(row)) {
    const into = frame.shown.sums.of(row)
    return t('{name} {long}; folded into it: {calls} calls, {self} of their own', {
      name,
      long,
      calls: count(into.calls),
      self: duration(into.self),
    })
  }
  return calls === 1
    ? `${name} ${long}`
    : t('{calls} calls; the longest: {name} {long}', { calls: count(calls), name, long })
}

interface Held {
  readonly x: number
  readonly y: number
  readonly from: number
  readonly to: number
  readonly top: number
  moved: boolean
}

/** What a pointer does: a drag moves, a click chooses, the wheel with Ctrl zooms, with Shift moves in time. */
function usePointer(frame: Frame, box: { current: HTMLDivElement | null }) {
  const { shown } = frame
  const held = useRef<Held>(null)
  const [title, setTitle] = useState('')
  const place = (event: MouseEvent): { x: number; y: number; width: number } => {
    const area = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return { x: event.clientX - area.left, y: event.clientY - area.top, width: area.width }
  }
  const picked = (event: MouseEvent): number => {
    const { x, y, width } = place(event)
    return pickAt(frame, width, x, y)
  }
  return {
    title,
    onPointerDown: (event: PointerEvent): void => {
      ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
      const { x, y } = place(event)
      held.current = { x, y, ...shown.zoom, top: box.current!.scrollTop, moved: false }
    },
    onPointerMove: (event: PointerEvent): void => {
      const hold = held.current
      const { x, y, width } = place(event)
      if (hold === null) {
        const at = picked(event)
        setTitle(at < 0 ? '' : hint(frame, at))
        return
      }
      hold.moved ||= Math.abs(x - hold.x) + Math.abs(y - hold.y) > DRAG_PX
      if (!hold.moved) return
      const by = ((hold.x - x) / (width - gutterPx())) * (hold.to - hold.from)
      setZoom(shown, { from: hold.from + by, to: hold.to + by })
      box.current!.scrollTop = hold.top + hold.y - y
    },
    onPointerUp: (event: PointerEvent): void => {
      const at = held.current?.moved === false ? picked(event) : -1
      held.current = null
      if (at < 0) return
      const { x, width } = place(event)
      if (isSign(frame, width, at, x)) shown.folds.toggle(frame.drawn.row[at]!)
      choose(frame.drawn.row[at]!)
    },
    onDblClick: (event: MouseEvent): void => {
      const at = picked(event)
      if (at >= 0) setZoom(shown, fit(shown, frame.drawn.row[at]!))
    },
    onWheel: (event: WheelEvent): void => {
      const across = event.shiftKey ? event.deltaY + event.deltaX : event.deltaX
      if (!event.ctrlKey && !event.metaKey && Math.abs(across) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return
      event.preventDefault()
      const { x, width } = place(event)
      const wide = width - gutterPx()
      if (event.ctrlKey || event.metaKey) {
        const at = shown.zoom.from + (Math.max(x - gutterPx(), 0) / wide) * (shown.zoom.to - shown.zoom.from)
        setZoom(shown, zoomAround(shown.zoom, at, 2 ** (event.deltaY / WHEEL_PER_DOUBLE), shown.length))
      } else setZoom(shown, pan(shown.zoom, across / wide, shown.length))
    },
  }
}

/** What is chosen comes into view; at another time only when it is newly chosen: an address keeps its own. */
function useReveal(shown: Shown, box: { current: HTMLDivElement | null }): void {
  const last = useRef(shown.chosen)
  useEffect(() => {
    const element = box.current!
    const same = last.current === shown.chosen
    last.current = shown.chosen
    const at = shown.trace.lines.line[seenOf(shown, shown.chosen)]! * LINE_PX
    if (at < element.scrollTop || at + LINE_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = at - element.clientHeight / 3
    if (same || isSeen(shown, shown.chosen)) return
    const wide = shown.zoom.to - shown.zoom.from
    const from = shown.trace.calls.begin[shown.chosen]! - wide / 3
    setZoom(shown, { from, to: from + wide })
  }, [shown.chosen, shown.trace])
}

function Legend({ shown }: { shown: Shown }): VNode {
  return (
    <p class="legend-line quiet-text">
      {t(
        'orange: what the root waited for · dark line: slowest 5 % · ◆: has notes, notches: when · arrows: calls in other processes, of the chosen call',
      )}
      {shown.noteTimes?.more === true &&
        ` · ${t('notches of the first {notes} notes', { notes: count(shown.noteTimes.rows.length) })}`}
    </p>
  )
}

export function Lanes({ shown }: { shown: Shown }): VNode {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const { trace } = shown
  const detail = useMemo(() => new Detail(trace.calls, trace.lines, trace.index), [trace])
  const drawn = useMemo(() => new Rectangles(MOST_RECTANGLES), [])
  const frame: Frame = { shown, detail, drawn, top }
  const height = Math.min(HEIGHT, Math.max(trace.lines.count * LINE_PX, 4 * LINE_PX))
  const paint = useCallback<Painter>(
    (context, width) => {
      paintLanes(context, width, height, frame)
      performance.mark('lanes', { detail: drawn.count })
    },
    [
      shown.zoom.from,
      shown.zoom.to,
      top,
      trace,
      shown.chosen,
      shown.sums,
      shown.folds,
      shown.found,
      shown.only,
      shown.usual,
      shown.notes,
      shown.noteTimes,
      height,
    ],
  )
  const { title, ...pointer } = usePointer(frame, box)
  useReveal(shown, box)
  return (
    <>
      <Tools shown={shown} />
      <FoldedNote shown={shown} />
      <div class="lane-head">
        <Axis shown={shown} />
      </div>
      <div
        class="lanes"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label={t(
          '{rows} calls in the lanes of {tracks} processes: up to the caller, down to what it calls, left and right along its line, w a s d zoom and move, 0 shows all, o folds what it calls, O that of all calls of its function; "tree" has the same as rows',
          { rows: trace.rows, tracks: trace.lines.tracks.length },
        )}
        style={{ height: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={(event) => {
          const done = event.ctrlKey || event.metaKey || event.altKey ? undefined : keyAction(shown, event.key)
          if (done === undefined) return
          event.preventDefault()
          apply(shown, done)
        }}
      >
        <div style={{ height: `${trace.lines.count * LINE_PX}px` }}>
          <div class="lanes-seen" title={title}>
            <Canvas height={height} paint={paint} {...pointer} />
          </div>
        </div>
      </div>
      <Legend shown={shown} />
    </>
  )
}
