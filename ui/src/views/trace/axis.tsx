import type { VNode } from 'preact'
import { duration } from '../../text/units.ts'
import type { Zoom } from '../../timeline/zoom.ts'

const TICKS = [0, 0.25, 0.5, 0.75, 1]

/** Far from the begin, three digits say the same of all: the others count from the first. */
function tick(zoom: Zoom, share: number): string {
  const width = zoom.to - zoom.from
  if (share === 0 || zoom.from < width) return duration(zoom.from + share * width)
  return `+${duration(share * width)}`
}

export function Axis({ zoom }: { zoom: Zoom }): VNode {
  return (
    <div class="axis" aria-hidden="true">
      {TICKS.map((share) => (
        <span key={share} style={{ left: `${share * 100}%` }}>
          {tick(zoom, share)}
        </span>
      ))}
    </div>
  )
}
