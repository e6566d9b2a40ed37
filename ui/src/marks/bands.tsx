// What was done meanwhile, behind what was measured: a band from its begin to its end, a line for a moment.

import type { VNode } from 'preact'

export interface Band {
  readonly key: string
  readonly begin: bigint
  readonly end: bigint
  readonly label: string
  /** undefined: all hosts. */
  readonly host: string | undefined
}

export function within(bands: readonly Band[] | undefined, since: bigint, until: bigint): Band[] {
  return (bands ?? []).filter((band) => band.end >= since && band.begin <= until)
}

/** In an SVG. x: of a time, within left to right. */
export function Bands(props: {
  bands: readonly Band[]
  x: (time: bigint) => number
  left: number
  right: number
  top: number
  bottom: number
}): VNode {
  const { bands, x, left, right, top, bottom } = props
  const cut = (at: number): number => Math.min(right, Math.max(left, at))
  return (
    <>
      {bands.map((band) => {
        const begin = cut(x(band.begin))
        return (
          <g key={band.key} class="band">
            <title>{band.label}</title>
            <rect x={begin} y={top} width={Math.max(2, cut(x(band.end)) - begin)} height={bottom - top} />
            {x(band.begin) >= left && <line x1={begin} x2={begin} y1={top} y2={bottom} />}
          </g>
        )
      })}
    </>
  )
}
