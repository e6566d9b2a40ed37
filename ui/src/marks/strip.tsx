// The spread of a measure on one line: least to greatest, the middle half as a box, the median, the 95th of 100.

import type { VNode } from 'preact'

export interface Spread {
  readonly min: number
  readonly q25: number
  readonly q50: number
  readonly q75: number
  readonly q95: number
  readonly max: number
}

export interface Domain {
  readonly from: number
  readonly to: number
}

/** Of all rows, so that they can be compared; logarithmic, so zero has the place of the least. */
export function logDomain(values: readonly number[]): Domain {
  const positive = values.filter((value) => value > 0)
  if (positive.length === 0) return { from: 1, to: 10 }
  const from = Math.min(...positive)
  return { from, to: Math.max(...positive, from * 10) }
}

export function logPlace(domain: Domain, value: number): number {
  if (value <= domain.from) return 0
  return Math.min(1, Math.log(value / domain.from) / Math.log(domain.to / domain.from))
}

const WIDTH = 180
const HEIGHT = 16

export function Strip({ spread, domain, label }: { spread: Spread; domain: Domain; label: string }): VNode {
  const x = (value: number): number => 3 + logPlace(domain, value) * (WIDTH - 6)
  const box = Math.max(2, x(spread.q75) - x(spread.q25))
  return (
    <svg class="strip" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <line class="whisker" x1={x(spread.min)} x2={x(spread.max)} y1={8} y2={8} />
      <rect class="box" x={x(spread.q25)} width={box} y={4} height={8} rx={1.5} />
      <line class="q50" x1={x(spread.q50)} x2={x(spread.q50)} y1={2.5} y2={13.5} />
      <line class="q95" x1={x(spread.q95)} x2={x(spread.q95)} y1={4} y2={12} />
      <circle class="ends" cx={x(spread.max)} cy={8} r={2} />
    </svg>
  )
}
