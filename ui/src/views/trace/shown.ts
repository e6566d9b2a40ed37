// What of a trace is shown, and how it is moved in: the same for tree and lanes.

import { refine, value } from '../../app/address.ts'
import type { Column } from '../../api/columns.ts'
import { endOf } from '../../timeline/calls.ts'
import { clampZoom, formatZoom, pan, parseZoom, zoomAround, type Zoom } from '../../timeline/zoom.ts'
import type { Critical, FindAnswer, Trace } from './model.ts'

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
  readonly onlyCritical: boolean
}

export function shownOf(trace: Trace, critical: Critical | undefined, find: FindAnswer | undefined): Shown {
  const length = Math.max(trace.head.duration_ns, 1)
  const asked = Number(value('sel') ?? '0')
  const chosen = Number.isInteger(asked) && asked >= 0 && asked < trace.rows ? asked : 0
  const same = critical !== undefined && critical.rows === trace.rows
  return {
    trace,
    length,
    chosen,
    zoom: parseZoom(value('w'), length),
    critical: same ? critical.critical : undefined,
    found: undefined,
    matches: find?.rows ?? [],
    onlyCritical: value('path') === 'critical',
  }
}

/** Some calls are asked for: the others stay, and step back. */
export function isDim(shown: Shown, row: number): boolean {
  if (shown.onlyCritical && shown.critical !== undefined && shown.critical[row] === 0) return true
  return shown.found !== undefined && !shown.found.has(row)
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

function nextMatch(shown: Shown, by: 1 | -1): number | undefined {
  const { matches, chosen } = shown
  if (by > 0) return matches.find((row) => row > chosen) ?? matches[0]
  return matches.findLast((row) => row < chosen) ?? matches[matches.length - 1]
}

export interface Done {
  readonly zoom?: Zoom
  readonly chosen?: number | undefined
  /** The part of the time that is summed. */
  readonly sum?: Zoom
  readonly critical?: boolean
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
    default:
      return undefined
  }
}

export function apply(shown: Shown, done: Done): void {
  if (done.zoom) setZoom(shown, done.zoom)
  if (done.critical === true) refine({ path: shown.onlyCritical ? undefined : 'critical' })
  if (done.sum) refine({ area: `${Math.floor(done.sum.from)},${Math.ceil(done.sum.to)}` })
  if (done.chosen === undefined) return
  choose(done.chosen)
}
