// The whole trace, small: what is shown below is framed, and a drag shows another part.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import { ROLES } from '../../parts/bits.tsx'
import type { Zoom } from '../../timeline/zoom.ts'
import type { Placed } from './placed.ts'

const MOST_ROWS = 30
const HEIGHT = 64

interface Props {
  readonly spans: readonly Placed[]
  readonly length: number
  readonly zoom: Zoom
  readonly onZoom: (zoom: Zoom) => void
}

function paintSpans(context: CanvasRenderingContext2D, width: number, spans: readonly Placed[], length: number): void {
  const rows = Math.min(MOST_ROWS, 1 + spans.reduce((most, { span }) => Math.max(most, span.depth), 0))
  const high = (HEIGHT - 4) / rows
  const colours = new Map<string, string>(ROLES.map((role) => [role, colour(role)]))
  for (const { span, begin, duration } of spans) {
    if (span.depth >= rows) continue
    const x = (begin / length) * width
    context.fillStyle = colours.get(span.role) ?? colour('client')
    context.fillRect(
      x,
      2 + span.depth * high,
      Math.max(1, (Math.max(duration, 0) / length) * width),
      Math.max(1, high - 0.5),
    )
  }
}

export function Minimap({ spans, length, zoom, onZoom }: Props): VNode {
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const paint = useCallback<Painter>(
    (context, width) => {
      paintSpans(context, width, spans, length)
      const from = drag ? Math.min(drag.from, drag.to) * width : (zoom.from / length) * width
      const to = drag ? Math.max(drag.from, drag.to) * width : (zoom.to / length) * width
      context.fillStyle = colour('surface')
      context.globalAlpha = 0.7
      context.fillRect(0, 0, from, HEIGHT)
      context.fillRect(to, 0, width - to, HEIGHT)
      context.globalAlpha = 1
      context.strokeStyle = colour('accent')
      context.lineWidth = 1.5
      context.strokeRect(from + 0.75, 0.75, Math.max(2, to - from - 1.5), HEIGHT - 1.5)
    },
    [spans, length, zoom.from, zoom.to, drag],
  )

  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
  }
  return (
    <Canvas
      height={HEIGHT}
      paint={paint}
      class="minimap brushed"
      role="img"
      aria-label="The whole trace; keys of the rows below zoom and move"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: at(event), to: at(event) })
      }}
      onPointerMove={(event) => setDrag((now) => now && { ...now, to: at(event) })}
      onPointerUp={() => {
        if (drag && Math.abs(drag.to - drag.from) > 0.002)
          onZoom({ from: Math.min(drag.from, drag.to) * length, to: Math.max(drag.from, drag.to) * length })
        setDrag(undefined)
      }}
      onDblClick={() => onZoom({ from: 0, to: length })}
    />
  )
}
