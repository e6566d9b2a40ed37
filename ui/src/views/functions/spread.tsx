// How the calls of a row are spread, as a strip.

import type { VNode } from 'preact'
import type { Measure } from '../../api/answers.ts'
import { Strip, type Domain, type Spread } from '../../marks/strip.tsx'
import { bytes, bytesPerS, duration } from '../../text/units.ts'
import { t } from '../../text/t.ts'

export type Kind = 'times' | 'bytes' | 'rate'

interface Spreading {
  readonly spread: (row: Measure) => Spread | undefined
  readonly write: (row: Measure, value: number) => string
}

export const SPREADS: Readonly<Record<Kind, Spreading>> = {
  times: {
    spread: ({ min_ns: min, q25_ns: q25, q50_ns: q50, q75_ns: q75, q95_ns: q95, max_ns: max }) =>
      min === undefined ? undefined : { min, q25: q25!, q50: q50!, q75: q75!, q95: q95!, max: max! },
    write: (row, ns) => duration(ns, row.resolution_ns),
  },
  bytes: {
    spread: ({ bytes: of }) =>
      of?.min_bytes === undefined
        ? undefined
        : {
            min: of.min_bytes,
            q25: of.q25_bytes!,
            q50: of.q50_bytes!,
            q75: of.q75_bytes!,
            q95: of.q95_bytes!,
            max: of.max_bytes!,
          },
    write: (_, value) => bytes(value),
  },
  rate: {
    spread: ({ rate: of }) =>
      of === undefined
        ? undefined
        : {
            min: of.min_bytes_per_s,
            q25: of.q25_bytes_per_s,
            q50: of.q50_bytes_per_s,
            q75: of.q75_bytes_per_s,
            q95: of.q95_bytes_per_s,
            max: of.max_bytes_per_s,
          },
    write: (_, value) => bytesPerS(value),
  },
}

function spreadLabel(row: Measure, spread: Spread, write: Spreading['write']): string {
  const part = (name: string, of: number): string => `${name} ${write(row, of)}`
  return [
    part(t('least'), spread.min),
    part('25 %', spread.q25),
    part(t('median'), spread.q50),
    part('75 %', spread.q75),
    part('95 %', spread.q95),
    part(t('most'), spread.max),
  ].join(', ')
}

export function spreadCell(kind: Kind, row: Measure, domain: Domain): VNode | string {
  const spread = SPREADS[kind].spread(row)
  if (spread === undefined) return '-'
  return <Strip spread={spread} domain={domain} label={spreadLabel(row, spread, SPREADS[kind].write)} />
}
