// Times above the calls. A drag in it chooses a part of the time, whose sums stand below (area.tsx).

import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { narrow } from '../../app/choices.ts'
import { t } from '../../text/t.ts'
import { duration } from '../../text/units.ts'
import { placeIn, type Zoom } from '../../timeline/zoom.ts'
import { areaOf, chooseArea } from './area.tsx'
import type { Shown } from './shown.ts'

const TICKS = [0, 0.25, 0.5, 0.75, 1]
const FEW_TICKS = [0, 1]
const LEAST_DRAG = 0.004

/** Far from the begin, three digits say the same of all: the others count from the first. */
function tick(zoom: Zoom, share: number): string {
  const width = zoom.to - zoom.from
  if (share === 0 || zoom.from < width) return duration(zoom.from + share * width)
  return `+${duration(share * width)}`
}

export function Axis({ shown }: { shown: Shown }): VNode {
  const { zoom } = shown
  const [drag, setDrag] = useState<Zoom>()
  const area =
    drag === undefined ? areaOf(shown) : { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }
  const place = area && placeIn(zoom, area.from, area.to - area.from)
  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
    return zoom.from + share * (zoom.to - zoom.from)
  }
  return (
    <div
      class="axis brushed"
      aria-hidden="true"
      title={t('A drag sums a part of the time')}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: at(event), to: at(event) })
      }}
      onPointerMove={(event) => setDrag((now) => now && { ...now, to: at(event) })}
      onPointerUp={() => {
        if (drag && area) chooseArea(area.to - area.from > LEAST_DRAG * (zoom.to - zoom.from) ? area : undefined)
        setDrag(undefined)
      }}
    >
      {place !== undefined && (
        <i style={{ left: `${(place.x * 100).toFixed(2)}%`, width: `${(place.width * 100).toFixed(2)}%` }} />
      )}
      {(narrow.value ? FEW_TICKS : TICKS).map((share) => (
        <span key={share} style={{ left: `${share * 100}%` }}>
          {tick(zoom, share)}
        </span>
      ))}
    </div>
  )
}
