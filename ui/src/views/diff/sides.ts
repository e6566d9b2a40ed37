// The two sides of a comparison, as the address has them or as they are at first.

import { value } from '../../app/address.ts'
import { lengthNs, periodSides, type Sides } from '../../app/period.ts'
import { zone } from '../../app/choices.ts'
import { t } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'

export type Kind = 'period' | 'pattern' | 'trace'

const DAY = '1d'
const WEEK = '7d'
export const EARLIER = [
  ['', t('as long, before')],
  [DAY, t('a day before')],
  [WEEK, t('a week before')],
] as const

export function kindOf(): Kind {
  const kind = value('kind')
  if (kind === 'pattern' || kind === 'trace') return kind
  if (kind === undefined && /^[0-9a-f]{16}$/.test(value('a') ?? '')) return 'trace'
  return kind === undefined && /^[0-9a-f]{17,}$/.test(value('a') ?? '') ? 'pattern' : 'period'
}

/** nowNs: the same until they are asked for again, or each answer would bring about another question. */
export function chosenSides(nowNs: bigint): Sides | undefined {
  const [a, b] = [value('a'), value('b')]
  if (a !== undefined && b !== undefined) return { a, b }
  return kindOf() === 'period' ? periodSides(value('earlier') ?? '', nowNs) : undefined
}

function pointText(text: string): string {
  if (/^\d{16,}$/.test(text)) return dayTime(BigInt(text), zone.value)
  const ns = lengthNs(text)
  if (ns !== undefined && ns % 3600e9 === 0) return t('{hours} h ago', { hours: ns / 3600e9 })
  if (ns !== undefined && ns % 60e9 === 0) return t('{minutes} min ago', { minutes: ns / 60e9 })
  return text === '' ? t('now') : t('{time} ago', { time: text })
}

/** A side as people read it. */
export function sideText(kind: Kind, side: string): string {
  if (kind !== 'period') return kind === 'trace' ? side : t('pattern {id}…', { id: side.slice(0, 8) })
  const [from = '', to = ''] = side.split('..')
  return t('{from} to {to}', { from: from === '' ? t('the begin') : pointText(from), to: pointText(to) })
}
