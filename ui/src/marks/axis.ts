// Where values lie on an axis from zero: in proportion, or, where a few are much larger than most, by powers. No DOM.

import { roundTicks } from './points.ts'

export interface Axis {
  readonly logarithmic: boolean
  readonly ticks: readonly number[]
  /** From 0 to 1. */
  readonly place: (value: number) => number
}

/** So many times the typical value the greatest is at most, where most values are still told apart. */
const FAR = 12
const ROOM = 1.05
const POWERS = [1, 2, 5] as const
const LEAST_TICKS = 3

function powerTicks(from: number, to: number): number[] {
  const first = Math.floor(Math.log10(from))
  const last = Math.ceil(Math.log10(to))
  const all = Array.from({ length: last - first + 1 }, (_, i) => first + i).flatMap((power) =>
    POWERS.map((n) => n * 10 ** power),
  )
  const within = all.filter((value) => value >= from && value <= to)
  const tens = within.filter((value) => Number.isInteger(Math.log10(value)))
  return tens.length >= LEAST_TICKS ? tens : within
}

/** typical: the median. least: of those above zero; zero has its place. */
export function axisOf(of: { least: number; typical: number; most: number }, ticks = 4): Axis {
  const to = of.most > 0 ? of.most * ROOM : 1
  if (of.typical > 0 && of.most > FAR * of.typical) {
    const from = Math.max(of.least / ROOM, to / 1e9)
    const length = Math.log(to / from)
    return {
      logarithmic: true,
      ticks: powerTicks(from, to),
      place: (value) => (value <= from ? 0 : Math.min(1, Math.log(value / from) / length)),
    }
  }
  return { logarithmic: false, ticks: roundTicks(to, ticks), place: (value) => Math.max(0, Math.min(1, value / to)) }
}
