import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { Name } from '../../parts/bits.tsx'
import { t } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { hasChildren, runSum, type Run } from '../../timeline/rows.ts'
import { placeIn, type Place } from '../../timeline/zoom.ts'
import { flagsOf, functionOf, hasNotes, placesOf, processOf, resolutionOf, type Note } from './model.ts'
import type { Runs } from './runs.ts'
import { choose, criticalWith, isDim, wantedOf, type Shown } from './shown.ts'

export const ROW_PX = 24
const INDENT_PX = 14
const MOST_INDENT = 14

interface Props {
  readonly shown: Shown
  readonly number: number
  readonly top: number
  readonly folded: boolean
  /** It is the first of equal siblings. */
  readonly run: Run | undefined
  readonly runs: Runs
  /** below: all that lie below it, too. */
  readonly onFold: (below: boolean) => void
}

/** Where the duration stands: behind its bar, before it at the right side, in it where it fills the row. */
function besideBar(place: Place, inside: boolean, right: boolean): { left: string } | { right: string } {
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  if (inside) return { left: percent(place.x) }
  return right ? { right: percent(1 - place.x) } : { left: percent(place.x + place.width) }
}

/** From the first to the last of equal siblings. */
function RunBar({ shown, run }: { shown: Shown; run: Run }): VNode {
  const { trace, zoom, leftOut } = shown
  const sum = useMemo(() => runSum(trace.calls, trace.tree.end, run, leftOut), [trace, run, leftOut])
  const place = placeIn(zoom, sum.begin, sum.end - sum.begin)
  if (place === undefined) return <span class="off">{sum.begin < zoom.from ? t('‹ earlier') : t('later ›')}</span>
  const toTheLeft = place.x > 0.6
  return (
    <>
      <span
        class={`bar run role-${processOf(trace, run.first).role}`}
        style={{ left: `${(place.x * 100).toFixed(3)}%`, width: `max(2px, ${(place.width * 100).toFixed(3)}%)` }}
      />
      <span
        class="bar-text of-run"
        style={
          toTheLeft
            ? { right: `${((1 - place.x - place.width) * 100).toFixed(3)}%` }
            : { left: `${(place.x * 100).toFixed(3)}%` }
        }
      >
        {t('{total} in all, at most {longest}', { total: duration(sum.total), longest: duration(sum.longest) })}
      </span>
    </>
  )
}

function RunCount({ run, runs, open }: { run: Run; runs: Runs; open: boolean }): VNode {
  return (
    <span
      class="mark run-count"
      title={open ? t('One row for all of them') : t('A row for each of them')}
      onClick={(event) => {
        event.stopPropagation()
        runs.toggle(run)
      }}
    >
      ×{count(run.calls)} {open ? '▾' : '▸'}
    </span>
  )
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

/** Of a closed run all calls, with what they call, are pale. */
function useIsPale(shown: Shown, row: number, run: Run | undefined): boolean {
  const { only, critical, found, usual } = shown
  const whole = useMemo(() => {
    const isWanted = wantedOf({ only, critical, found, usual })
    if (run === undefined || isWanted === undefined) return false
    for (let at = run.first; at < run.end; at++) if (isWanted(at)) return false
    return true
  }, [run, only, critical, found, usual])
  return run === undefined ? isDim(shown, row) : whole
}

/** Of a call that is not chosen: notes nearer than this share of the time are one tick. */
const TICK_SHARE = 0.002

/** What they say is known of the chosen call only. */
function ticksOf({ chosen, notes, noteTimes, trace, zoom }: Shown, row: number): readonly Partial<Note>[] {
  if (row === chosen && notes.length > 0) return notes
  if (noteTimes === undefined || !hasNotes(trace, row)) return []
  const [first, end] = placesOf(noteTimes, row)
  const least = (zoom.to - zoom.from) * TICK_SHARE
  const ticks: Partial<Note>[] = []
  let last = -Infinity
  for (let i = first; i < end; i++) {
    const at = trace.calls.begin[row]! + noteTimes.after[i]!
    if (at - last < least) continue
    ticks.push({ at })
    last = at
  }
  return ticks
}

function NoteTicks({ shown, row }: { shown: Shown; row: number }): VNode {
  return (
    <>
      {ticksOf(shown, row).map(({ at = 0, message }, i) => {
        const place = placeIn(shown.zoom, at, 0)
        if (place === undefined) return null
        const title = message === undefined ? t('A note: choose the call to read it') : visible(message)
        return <i key={i} class="note-tick" title={title} style={{ left: `${(place.x * 100).toFixed(3)}%` }} />
      })}
    </>
  )
}

const marksOf = (shown: Shown, row: number): string[] => [
  ...flagsOf(shown.trace, row),
  ...(hasNotes(shown.trace, row) ? [t('notes')] : []),
  ...(shown.usual?.isSlow(row) === true ? [t('slowest 5 %')] : []),
]

export function Row({ shown, number, top, folded, run, runs, onFold }: Props): VNode {
  const { trace } = shown
  const { depth, end } = trace.tree
  const isRun = run !== undefined && !runs.isOpen(run)
  const flags = isRun ? [] : marksOf(shown, number)
  const below = hasChildren(end, number) && !isRun
  const chosen = number === shown.chosen
  const pale = useIsPale(shown, number, isRun ? run : undefined)
  return (
    <div
      class={`row ${chosen ? 'chosen' : ''} ${!chosen && pale ? 'dim' : ''}`}
      id={`span-${number}`}
      role="option"
      aria-selected={chosen}
      style={{ top: `${top}px` }}
      onClick={() => choose(number)}
    >
      <span class="tree" style={{ paddingLeft: `${Math.min(depth[number]!, MOST_INDENT) * INDENT_PX}px` }}>
        <span
          title={below ? t('With Shift: all below') : undefined}
          class={`fold ${below ? (folded ? 'folded' : 'unfolded') : ''}`}
          onClick={(event) => {
            event.stopPropagation()
            if (below) onFold(event.shiftKey)
          }}
        />
        <Name text={functionOf(trace, number)} role={processOf(trace, number).role} />
        {run !== undefined && <RunCount run={run} runs={runs} open={!isRun} />}
        {folded && !isRun && <FoldedCount shown={shown} number={number} />}
        {flags.length > 0 && <span class="mark">{flags.join(', ')}</span>}
      </span>
      <span class="time">
        {!isRun && <NoteTicks shown={shown} row={number} />}
        {isRun ? <RunBar shown={shown} run={run} /> : <TimeBar shown={shown} number={number} />}
      </span>
    </div>
  )
}
