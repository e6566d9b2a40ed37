// Colours of the map. Against peers: blue for faster, orange for slower, by doublings; else from light to dark.

import { colour } from '../../marks/canvas.tsx'
import { blend, type Rgb } from '../../marks/ramp.ts'

export type Scheme = 'peers' | 'absolute'

/** More are not told apart. */
const SHADES = 64

/** The colour of each share, from -1 to 1 or from 0 to 1. */
export function palette(scheme: Scheme): (share: number) => Rgb {
  const [middle, slower, faster, accent] = [colour('middle'), colour('slower'), colour('faster'), colour('accent')]
  const up = scheme === 'absolute' ? accent : slower
  const shades = Array.from({ length: 2 * SHADES + 1 }, (_, i) => {
    const share = i / SHADES - 1
    return share >= 0 ? blend(middle, up, share) : blend(middle, faster, -share)
  })
  return (share) => shades[Math.round((1 + share) * SHADES)]!
}
