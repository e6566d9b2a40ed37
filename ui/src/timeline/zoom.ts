// A part of a trace's time, in nanoseconds from its begin. No DOM.

export interface Zoom {
  readonly from: number
  readonly to: number
}

const LEAST_NS = 10

/** Within the whole, and never narrower than can be told apart. */
export function clampZoom(zoom: Zoom, length: number): Zoom {
  const width = Math.min(Math.max(zoom.to - zoom.from, LEAST_NS), Math.max(length, LEAST_NS))
  const from = Math.min(Math.max(zoom.from, 0), Math.max(length - width, 0))
  return { from, to: from + width }
}

/** By a factor, around a point that keeps its place. */
export function zoomAround(zoom: Zoom, at: number, factor: number, length: number): Zoom {
  const width = Math.min((zoom.to - zoom.from) * factor, length)
  const share = (at - zoom.from) / (zoom.to - zoom.from)
  return clampZoom({ from: at - share * width, to: at + (1 - share) * width }, length)
}

export function pan(zoom: Zoom, share: number, length: number): Zoom {
  const by = (zoom.to - zoom.from) * share
  return clampZoom({ from: zoom.from + by, to: zoom.to + by }, length)
}

export function parseZoom(text: string | undefined, length: number): Zoom {
  const [from, to] = (text ?? '').split(',').map(Number)
  if (from === undefined || to === undefined || !Number.isFinite(from) || !Number.isFinite(to) || to <= from)
    return { from: 0, to: Math.max(length, LEAST_NS) }
  return clampZoom({ from, to }, length)
}

/** undefined: the whole. */
export function formatZoom(zoom: Zoom, length: number): string | undefined {
  if (zoom.from <= 0 && zoom.to >= length) return undefined
  return `${Math.round(zoom.from)},${Math.round(zoom.to)}`
}

/** Shares of what is shown. */
export interface Place {
  readonly x: number
  readonly width: number
}

/** Where a span lies in what is shown, cut at its sides; undefined: outside. */
export function placeIn(zoom: Zoom, begin: number, length: number): Place | undefined {
  const wide = zoom.to - zoom.from
  const end = begin + Math.max(length, 0)
  if (end < zoom.from || begin > zoom.to) return undefined
  const x = Math.max(begin - zoom.from, 0) / wide
  return { x, width: Math.min(end - zoom.from, wide) / wide - x }
}
