// The whole trace, small: what is shown below is framed, and a drag shows another part.

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import { t } from '../../text/t.ts'
import { MOMENTS } from '../../timeline/overview.ts'
import { setZoom, type Shown } from './shown.ts'
import type { Trace } from './model.ts'

const HEIGHT = 64
const LEAST_DRAG = 0.002

function paintOverview(context: CanvasRenderingContext2D, width: number, trace: Trace): void {
  const { levels, process } = trace.overview
  const high = (HEIGHT - 4) / levels
  const wide = width / MOMENTS
  const colours = trace.head.processes.map((one) => colour(one.role))
  for (let level = 0; level < levels; level++) {
    for (let first = 0; first < MOMENTS;) {
      const one = process[level * MOMENTS + first]!
      let last = first + 1
      while (last < MOMENTS && process[level * MOMENTS + last] === one) last++
      if (one > 0) {
        context.fillStyle = colours[one - 1]!
        context.fillRect(first * wide, 2 + level * high, Math.max(1, (last - first) * wide), Math.max(1, high - 0.5))
      }
      first = last
    }
  }
}

export function Minimap({ shown }: { shown: Shown }): VNode {
  const { trace, zoom, length } = shown
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const paint = useCallback<Painter>((context, width) => paintOverview(context, width, trace), [trace])
  const from = drag ? Math.min(drag.from, drag.to) : zoom.from / length
  const to = drag ? Math.max(drag.from, drag.to) : zoom.to / length
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
  }
  return (
    <div
      class="minimap brushed"
      role="img"
      aria-label={t('The whole trace; the buttons and keys of what is below zoom and move')}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: at(event), to: at(event) })
      }}
      onPointerMove={(event) => setDrag((now) => now && { ...now, to: at(event) })}
      onPointerUp={() => {
        if (drag && to - from > LEAST_DRAG) setZoom(shown, { from: from * length, to: to * length })
        setDrag(undefined)
      }}
      onDblClick={() => setZoom(shown, { from: 0, to: length })}
    >
      <Canvas height={HEIGHT} paint={paint} />
      <span class="minimap-off" style={{ left: 0, width: percent(from) }} />
      <span class="minimap-off" style={{ right: 0, width: percent(1 - to) }} />
      <span class="minimap-frame" style={{ left: percent(from), width: percent(to - from) }} />
    </div>
  )
}
