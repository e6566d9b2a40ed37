// Colours of the map. Against peers: blue for faster, orange for slower, by doublings; else from light to dark.

import { colour } from '../../marks/canvas.tsx'
import { mix } from '../../marks/ramp.ts'

export type Scheme = 'peers' | 'absolute'

export function palette(): (scheme: Scheme, share: number) => string {
  const [middle, slower, faster, accent] = [colour('middle'), colour('slower'), colour('faster'), colour('accent')]
  return (scheme, share) => {
    if (scheme === 'absolute') return mix(middle, accent, share)
    return share >= 0 ? mix(middle, slower, share) : mix(middle, faster, -share)
  }
}
