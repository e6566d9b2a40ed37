// The answer of diff (docs/api.md), as far as the page reads it.

import type { Measure } from './answers.ts'

export type Change = 'slower' | 'faster' | 'same' | 'new' | 'gone'

export interface DiffRow {
  depth?: number
  function: string
  role: string
  host?: string
  state: Change
  a?: Measure
  b?: Measure
  mean_change_ns?: number
  mean_change_percent?: number
  total_change_ns?: number
  z?: number
}

export interface DiffAnswer {
  kind: 'period' | 'pattern' | 'trace'
  a: string
  b: string
  rows: DiffRow[]
  more?: boolean
  patterns?: { pattern: string; state: 'new' | 'gone'; traces: number; functions: string[] }[]
}
