import type { VNode } from 'preact'
import { Name } from '../../parts/bits.tsx'
import { t } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { hasChildren } from '../../timeline/rows.ts'
import { placeIn, type Place } from '../../timeline/zoom.ts'
import { flagsOf, functionOf, processOf, resolutionOf } from './model.ts'
import { choose, criticalWith, isDim, type Shown } from './shown.ts'

export const ROW_PX = 24
const INDENT_PX = 14
const MOST_INDENT = 14

interface Props {
  readonly shown: Shown
  readonly number: number
  readonly top: number
  readonly folded: boolean
  /** below: all that lie below it, too. */
  readonly onFold: (below: boolean) => void
}

/** Where the duration stands: behind its bar, before it at the right side, in it where it fills the row. */
function besideBar(place: Place, inside: boolean, right: boolean): { left: string } | { right: string } {
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  if (inside) return { left: percent(place.x) }
  return right ? { right: percent(1 - place.x) } : { left: percent(place.x + place.width) }
}

function TimeBar({ shown, number }: { shown: Shown; number: number }): VNode {
  const { trace, zoom } = shown
  const begin = trace.calls.begin[number]!
  const length = trace.calls.duration[number]!
  const place = placeIn(zoom, begin, length)
  if (place === undefined) return <span class="off">{begin < zoom.from ? t('‹ earlier') : t('later ›')}</span>
  const inside = place.width > 0.7
  const right = !inside && place.x + place.width > 0.85
  const critical = length > 0 ? Math.min(1, criticalWith(shown, number) / length) : 0
  return (
    <>
      <span
        class={`bar role-${processOf(trace, number).role}`}
        style={{ left: `${(place.x * 100).toFixed(3)}%`, width: `max(2px, ${(place.width * 100).toFixed(3)}%)` }}
      >
        {critical > 0 && <span class="critical" style={{ width: `${(critical * 100).toFixed(1)}%` }} />}
      </span>
      <span class={inside ? 'bar-text inside' : 'bar-text'} style={besideBar(place, inside, right)}>
        {duration(length, resolutionOf(trace, number))}
      </span>
    </>
  )
}

function FoldedCount({ shown, number }: { shown: Shown; number: number }): VNode {
  const { calls, self } = shown.sums.of(number)
  return (
    <span
      class="quiet-text"
      title={t('{calls} calls below it, {self} of their own', { calls: count(calls), self: duration(self) })}
    >
      {' '}
      +{calls}
    </span>
  )
}

export function Row({ shown, number, top, folded, onFold }: Props): VNode {
  const { trace } = shown
  const { depth, end } = trace.tree
  const flags = flagsOf(trace, number)
  const chosen = number === shown.chosen
  return (
    <div
      class={`row ${chosen ? 'chosen' : ''} ${isDim(shown, number) ? 'dim' : ''}`}
      id={`span-${number}`}
      role="option"
      aria-selected={chosen}
      style={{ top: `${top}px` }}
      onClick={() => choose(number)}
    >
      <span class="tree" style={{ paddingLeft: `${Math.min(depth[number]!, MOST_INDENT) * INDENT_PX}px` }}>
        <span
          title={hasChildren(end, number) ? t('With Shift: all below') : undefined}
          class={`fold ${hasChildren(end, number) ? (folded ? 'folded' : 'unfolded') : ''}`}
          onClick={(event) => {
            event.stopPropagation()
            onFold(event.shiftKey)
          }}
        />
        <Name text={functionOf(trace, number)} role={processOf(trace, number).role} />
        {folded && <FoldedCount shown={shown} number={number} />}
        {flags.length > 0 && <span class="mark">{flags.join(', ')}</span>}
      </span>
      <span class="time">
        <TimeBar shown={shown} number={number} />
      </span>
    </div>
  )
}
