import type { VNode } from 'preact'
import { Name } from '../../parts/bits.tsx'
import { duration } from '../../text/units.ts'
import { countBelow, hasChildren } from '../../timeline/rows.ts'
import { placeIn, type Place, type Zoom } from '../../timeline/zoom.ts'
import type { Placed } from './placed.ts'

export const ROW_PX = 24
const INDENT_PX = 14
const MOST_INDENT = 14

interface Props {
  readonly spans: readonly Placed[]
  readonly number: number
  readonly top: number
  readonly zoom: Zoom
  readonly chosen: boolean
  readonly dim: boolean
  readonly folded: boolean
  readonly onChoose: () => void
  readonly onFold: () => void
}

/** Where the duration stands: behind its bar, before it at the right side, in it where it fills the row. */
function besideBar(place: Place, inside: boolean, right: boolean): { left: string } | { right: string } {
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  if (inside) return { left: percent(place.x) }
  return right ? { right: percent(1 - place.x) } : { left: percent(place.x + place.width) }
}

function TimeBar({ placed, zoom }: { placed: Placed; zoom: Zoom }): VNode {
  const { span } = placed
  const place = placeIn(zoom, placed.begin, placed.duration)
  const text = duration(placed.duration, span.resolution_ns)
  if (place === undefined) return <span class="off">{placed.begin < zoom.from ? '‹ earlier' : 'later ›'}</span>
  const inside = place.width > 0.7
  const right = !inside && place.x + place.width > 0.85
  const critical = placed.duration > 0 ? Math.min(1, span.critical_ns / placed.duration) : 0
  return (
    <>
      <span
        class={`bar role-${span.role}`}
        style={{ left: `${(place.x * 100).toFixed(3)}%`, width: `max(2px, ${(place.width * 100).toFixed(3)}%)` }}
      >
        {critical > 0 && <span class="critical" style={{ width: `${(critical * 100).toFixed(1)}%` }} />}
      </span>
      <span class={inside ? 'bar-text inside' : 'bar-text'} style={besideBar(place, inside, right)}>
        {text}
      </span>
    </>
  )
}

export function Row(props: Props): VNode {
  const { spans, number, folded } = props
  const placed = spans[number]!
  const { span } = placed
  const parent = hasChildren(spans, number)
  const flags = span.flags ?? []
  return (
    <div
      class={`row ${props.chosen ? 'chosen' : ''} ${props.dim ? 'dim' : ''}`}
      id={`span-${number}`}
      role="option"
      aria-selected={props.chosen}
      style={{ top: `${props.top}px` }}
      onClick={props.onChoose}
    >
      <span class="tree" style={{ paddingLeft: `${Math.min(span.depth, MOST_INDENT) * INDENT_PX}px` }}>
        <span
          class={`fold ${parent ? (folded ? 'folded' : 'unfolded') : ''}`}
          onClick={(event) => {
            event.stopPropagation()
            props.onFold()
          }}
        />
        <Name text={span.function} role={span.role} />
        {folded && <span class="quiet-text"> +{countBelow(spans, number)}</span>}
        {flags.length > 0 && <span class="mark">{flags.join(', ')}</span>}
      </span>
      <span class="time">
        <TimeBar placed={placed} zoom={props.zoom} />
      </span>
    </div>
  )
}
