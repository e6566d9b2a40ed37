// Colours between two of the theme.

import { colour } from './canvas.tsx'

export type Rgb = readonly [red: number, green: number, blue: number]

function parse(hex: string): Rgb {
  const number = parseInt(hex.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}

export function blend(from: string, to: string, share: number): Rgb {
  const [a, b] = [parse(from), parse(to)]
  const part = (i: 0 | 1 | 2): number => Math.round(a[i] + (b[i] - a[i]) * share)
  return [part(0), part(1), part(2)]
}

/** From few (0) to many (1). */
export function ramp(): (share: number) => string {
  const [middle, accent] = [colour('middle'), colour('accent')]
  return (share) => `rgb(${blend(middle, accent, Math.min(1, Math.max(0, share))).join(' ')})`
}
