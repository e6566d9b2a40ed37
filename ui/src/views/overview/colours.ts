// Colours of the map. Against peers: blue for faster, orange for slower, by doublings; else from light to dark.

import { colour } from '../../marks/canvas.tsx'

export type Scheme = 'peers' | 'absolute'

function parse(hex: string): [number, number, number] {
  const number = parseInt(hex.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}

function mix(from: string, to: string, share: number): string {
  const [a, b] = [parse(from), parse(to)]
  const part = (i: 0 | 1 | 2): number => Math.round(a[i] + (b[i] - a[i]) * share)
  return `rgb(${part(0)} ${part(1)} ${part(2)})`
}

export function palette(): (scheme: Scheme, share: number) => string {
  const [middle, slower, faster, accent] = [colour('middle'), colour('slower'), colour('faster'), colour('accent')]
  return (scheme, share) => {
    if (scheme === 'absolute') return mix(middle, accent, share)
    return share >= 0 ? mix(middle, slower, share) : mix(middle, faster, -share)
  }
}
