// How the lanes of a trace are drawn: sizes, what of the trace is seen, and where a time lies in it.

import { narrow } from '../../app/choices.ts'
import type { Detail, Rectangles } from '../../timeline/detail.ts'
import type { Shown } from './shown.ts'

export const LINE_PX = 15
export const BAR_PX = LINE_PX - 2
const GUTTER_PX = 170
const NARROW_GUTTER_PX = 84
/** For the names of processes, as in style.css. */
export const gutterPx = (): number => (narrow.value ? NARROW_GUTTER_PX : GUTTER_PX)

export interface Frame {
  readonly shown: Shown
  readonly detail: Detail
  readonly drawn: Rectangles
  /** Pixels above what is seen. */
  readonly top: number
}

export interface Scale {
  readonly x: (time: number) => number
  readonly perPixel: number
}

export function scaleOf(frame: Frame, width: number): Scale {
  const { from, to } = frame.shown.zoom
  const perPixel = (to - from) / Math.max(width - gutterPx(), 1)
  return { x: (time) => gutterPx() + (time - from) / perPixel, perPixel }
}
