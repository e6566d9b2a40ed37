// Several groups along several features, each from 0 to 1: parallel coordinates.

import type { VNode } from 'preact'

export interface Strand {
  readonly label: string
  readonly className: string
  /** By axis; undefined: not known. */
  readonly values: readonly (number | undefined)[]
}

const AXIS_PX = 104
const HEIGHT = 190
const TOP = 14
const BOTTOM = 44

function words(name: string): string[] {
  const parts = name.split(/(?<=[a-z])(?=[A-Z])/)
  const middle = Math.ceil(parts.length / 2)
  return [parts.slice(0, middle).join(' '), parts.slice(middle).join(' ')].filter((line) => line !== '')
}

export function Parallel(props: { axes: readonly string[]; strands: readonly Strand[]; label: string }): VNode {
  const { axes, strands } = props
  const width = Math.max(2, axes.length) * AXIS_PX
  const x = (axis: number): number => AXIS_PX / 2 + axis * AXIS_PX
  const y = (value: number): number => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM)
  return (
    <figure class="curve">
      <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
        <svg width={width} height={HEIGHT} style={{ width: `${width}px` }} role="img" aria-label={props.label}>
          {axes.map((name, i) => (
            <g key={name}>
              <line class="axis-line" x1={x(i)} x2={x(i)} y1={y(0)} y2={y(1)} />
              {words(name).map((line, row) => (
                <text key={line} x={x(i)} y={HEIGHT - BOTTOM + 16 + 14 * row} text-anchor="middle">
                  {line}
                </text>
              ))}
            </g>
          ))}
          {strands.map((strand) => (
            <g key={strand.label}>
              <path
                class={`curve-line ${strand.className}`}
                d={strand.values
                  .flatMap((value, i) => (value === undefined ? [] : `${x(i)} ${y(value).toFixed(1)}`))
                  .map((at, i) => `${i === 0 ? 'M' : 'L'}${at}`)
                  .join('')}
              />
              {strand.values.map(
                (value, i) =>
                  value !== undefined && (
                    <circle key={i} class={`curve-dot ${strand.className}`} cx={x(i)} cy={y(value)} r={3.5}>
                      <title>{`${strand.label}: ${axes[i]!} ${value.toFixed(2)}`}</title>
                    </circle>
                  ),
              )}
            </g>
          ))}
        </svg>
      </div>
      <figcaption>
        {strands.map((strand) => (
          <span key={strand.label}>
            <svg width="22" height="8" aria-hidden="true">
              <path class={`curve-line ${strand.className}`} d="M0 4h22" />
            </svg>{' '}
            {strand.label}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
