// What of a trace is shown, and how it is moved in: the same for tree and lanes.

import { refine, value } from '../../app/address.ts'
import type { Column } from '../../api/columns.ts'
import { endOf } from '../../timeline/calls.ts'
import type { Crossings } from '../../timeline/crossings.ts'
import { anyWithin, type Hidden } from '../../timeline/folds.ts'
import { clampZoom, formatZoom, pan, parseZoom, zoomAround, type Zoom } from '../../timeline/zoom.ts'
import type { FoldSums, Folds } from './folds.ts'
import { areSameRows, rowOf } from './model.ts'
import type { Critical, FindAnswer, Note, NoteTimes, Trace } from './model.ts'
import type { Usual } from './usual.ts'

export type Only = 'all' | 'critical' | 'slow'

export interface Shown {
  readonly trace: Trace
  readonly length: number
  readonly zoom: Zoom
  readonly chosen: number
  readonly critical: Column | undefined
  /** The calls that are looked for; undefined: none are. */
  readonly found: ReadonlySet<number> | undefined
  /** In order. */
  readonly matches: readonly number[]
  readonly only: Only
  /** undefined: what is usual is not known. */
  readonly usual: Usual | undefined
  readonly folds: Folds
  readonly sums: FoldSums
  /** Of the lanes, what is folded. */
  readonly hidden: Omit<Hidden, 'rows'> | undefined
  /** 1 for each call that is left out; undefined: none is. */
  readonly leftOut: Uint8Array | undefined
  /** Of the chosen call. */
  readonly notes: readonly Note[]
  /** Of all calls; undefined: none has any, or they have not come yet. */
  readonly noteTimes: NoteTimes | undefined
  /** Calls between processes around the chosen one. */
  readonly crossings: Crossings
}

/** By its row, or by the id of the span, as links from elsewhere have it. */
export function chosenOf(trace: Trace): number {
  const asked = Number(value('sel') ?? rowOf(trace, value('call') ?? ''))
  return Number.isInteger(asked) && asked >= 0 && asked < trace.rows ? asked : 0
}

export function onlyAsked(): Only {
  const only = value('path')
  return only === 'critical' || only === 'slow' ? only : 'all'
}

export const criticalOf = (trace: Trace, critical: Critical | undefined): Column | undefined =>
  critical?.rows === trace.rows && areSameRows(critical.of, trace.head) ? critical.critical : undefined

export const noteTimesOf = ({ head }: Trace, times: NoteTimes | undefined): NoteTimes | undefined =>
  times && areSameRows(times.of, head) ? times : undefined

export const foundOf = ({ head }: Trace, found: FindAnswer | undefined): FindAnswer | undefined =>
  found && areSameRows(found, head) ? found : undefined

export function shownOf(
  trace: Trace,
  chosen: number,
  find: FindAnswer | undefined,
): Omit<
  Shown,
  'critical' | 'found' | 'folds' | 'sums' | 'hidden' | 'leftOut' | 'crossings' | 'usual' | 'notes' | 'noteTimes'
> {
  const length = Math.max(trace.length ?? trace.head.duration_ns, 1)
  return {
    trace,
    length,
    chosen,
    zoom: parseZoom(value('w'), length),
    matches: find?.rows ?? [],
    only: onlyAsked(),
  }
}

/** The time of a call for which the root waited; of a folded one, with all that is folded into it. */
export function criticalWith(shown: Shown, row: number): number {
  if (shown.critical === undefined) return 0
  return shown.folds.has(row) ? shown.sums.of(row).critical : shown.critical[row]!
}

/** Some calls are asked for: the others stay, and step back. What is folded into a call counts as it. */
export function isDim(shown: Shown, row: number): boolean {
  const { only, critical, found, usual, trace } = shown
  const within = (rows: readonly number[]): boolean =>
    shown.folds.has(row) && anyWithin(rows, row + 1, trace.tree.end[row]!)
  if (only === 'critical' && critical !== undefined && criticalWith(shown, row) === 0) return true
  if (only === 'slow' && usual !== undefined && !usual.isSlow(row) && !within(usual.rows)) return true
  return found !== undefined && !found.has(row) && !within(shown.matches)
}

export type Marks = Pick<Shown, 'only' | 'critical' | 'found' | 'usual'>

/** Is a call itself what is asked for, as far as that is known? undefined: nothing is. */
export function wantedOf({ only, critical, found, usual }: Marks): ((row: number) => boolean) | undefined {
  const waited = only === 'critical' ? critical : undefined
  const slow = only === 'slow' ? usual : undefined
  if (waited === undefined && slow === undefined && found === undefined) return undefined
  return (row) =>
    (waited === undefined || waited[row]! > 0) &&
    (slow === undefined || slow.isSlow(row)) &&
    (found === undefined || found.has(row))
}

/** In the lanes: the call, or the one into which it is folded. */
export function seenOf(shown: Shown, row: number): number {
  const { calls, lines } = shown.trace
  let at = row
  while (lines.line[at]! < 0) at = calls.parent[at]!
  return at
}

export const setZoom = (shown: Shown, zoom: Zoom): void =>
  refine({ w: formatZoom(clampZoom(zoom, shown.length), shown.length) })

export const choose = (row: number): void => refine({ sel: String(row) })

export function fit(shown: Shown, row: number): Zoom {
  const { calls } = shown.trace
  const begin = calls.begin[row]!
  return { from: begin, to: Math.max(endOf(calls, row), begin + 1) }
}

/** Is any of it in what is shown? */
export function isSeen(shown: Shown, row: number): boolean {
  const { calls } = shown.trace
  return calls.begin[row]! <= shown.zoom.to && endOf(calls, row) >= shown.zoom.from
}

/** Of what is asked for: round, where there is no other. */
function nextMatch(shown: Shown, by: 1 | -1): number | undefined {
  const isWanted = wantedOf(shown)
  const { rows } = shown.trace
  if (isWanted === undefined) return undefined
  for (let i = 1; i <= rows; i++) {
    const row = (shown.chosen + by * i + rows) % rows
    if (isWanted(row)) return row
  }
  return undefined
}

export interface Done {
  readonly zoom?: Zoom
  readonly chosen?: number | undefined
  /** The part of the time that is summed. */
  readonly sum?: Zoom
  readonly critical?: boolean
  readonly slow?: boolean
  /** Folded, or unfolded. */
  readonly fold?: 'call' | 'function'
}

/** Keys that tree and lanes share; undefined: none of them. */
export function commonKey(shown: Shown, key: string): Done | undefined {
  const { zoom, length, chosen } = shown
  const middle = (zoom.from + zoom.to) / 2
  switch (key) {
    case 'w':
    case '+':
      return { zoom: zoomAround(zoom, middle, 0.7, length) }
    case 's':
    case '-':
      return { zoom: zoomAround(zoom, middle, 1 / 0.7, length) }
    case 'a':
      return { zoom: pan(zoom, -0.2, length) }
    case 'd':
      return { zoom: pan(zoom, 0.2, length) }
    case '0':
      return { zoom: { from: 0, to: length } }
    case 'f':
      return { zoom: fit(shown, chosen) }
    case 'n':
      return { chosen: nextMatch(shown, 1) }
    case 'N':
      return { chosen: nextMatch(shown, -1) }
    case 'm':
      return { sum: zoom }
    case 'c':
      return { critical: true }
    case 'x':
      return { slow: true }
    case 'o':
      return { fold: 'call' }
    case 'O':
      return { fold: 'function' }
    default:
      return undefined
  }
}

export function apply(shown: Shown, done: Done): void {
  if (done.zoom) setZoom(shown, done.zoom)
  if (done.fold === 'call') shown.folds.toggle(seenOf(shown, shown.chosen))
  if (done.fold === 'function') shown.folds.toggleFunction(seenOf(shown, shown.chosen))
  if (done.critical === true) refine({ path: shown.only === 'critical' ? undefined : 'critical' })
  if (done.slow === true) refine({ path: shown.only === 'slow' ? undefined : 'slow' })
  if (done.sum) refine({ area: `${Math.floor(done.sum.from)},${Math.ceil(done.sum.to)}` })
  if (done.chosen === undefined) return
  choose(done.chosen)
}
