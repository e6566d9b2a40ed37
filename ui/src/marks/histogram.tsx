// Distributions over the same bins, each as shares of its own calls, so that they can be compared.

import type { VNode } from 'preact'
import { useWidth } from './width.ts'

export interface Layer {
  readonly label: string
  readonly className: string
  /** Share of the calls, by number of the edge. */
  readonly shares: readonly number[]
}

const HEIGHT = 110
const BOTTOM = 18

export function Histogram(props: {
  edges: readonly number[]
  layers: readonly Layer[]
  write: (value: number) => string
  label: string
}): VNode {
  const { edges, layers, write } = props
  const [element, width] = useWidth()
  const bins = Math.max(1, edges.length - 1)
  const most = Math.max(1e-9, ...layers.flatMap((layer) => layer.shares))
  const inner = HEIGHT - BOTTOM
  const x = (bin: number): number => (bin / bins) * width
  const y = (share: number): number => inner - (share / most) * (inner - 6)
  const line = (shares: readonly number[]): string =>
    `M0 ${inner} ${shares.map((share, i) => `L${x(i).toFixed(1)} ${y(share).toFixed(1)} L${x(i + 1).toFixed(1)} ${y(share).toFixed(1)}`).join(' ')} L${width} ${inner}`
  const named = bins < 4 ? [0, bins] : [0, Math.round(bins / 2), bins]
  return (
    <figure class="histogram">
      <svg ref={element} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={props.label}>
        {layers.map((layer) => (
          <path key={layer.label} class={layer.className} d={line(layer.shares)} />
        ))}
        {named.map((edge, i) => (
          <text
            key={edge}
            x={x(edge)}
            y={HEIGHT - 4}
            text-anchor={i === 0 ? 'start' : edge === bins ? 'end' : 'middle'}
          >
            {write(edges[edge] ?? 0)}
          </text>
        ))}
      </svg>
      <figcaption>
        {layers.map((layer) => (
          <span key={layer.label}>
            <span class={`swatch ${layer.className}`} aria-hidden="true" /> {layer.label}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
