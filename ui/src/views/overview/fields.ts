// What a cell of the map shows, and how it is written.

import { t } from '../../text/t.ts'
import { bytes, bytesPerS, count, duration } from '../../text/units.ts'

export const FIELDS = [
  ['mean_ns', t('mean')],
  ['q95_ns', '95 %'],
  ['calls', t('calls')],
  ['total_ns', t('total')],
  ['rate.mean_bytes_per_s', 'bytes/s'],
] as const

export function writeValue(field: string, value: number): string {
  if (field.endsWith('_ns')) return duration(value)
  if (field.endsWith('_bytes_per_s')) return bytesPerS(value)
  return field.endsWith('_bytes') ? bytes(value) : count(value)
}
