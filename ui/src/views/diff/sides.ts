// The two sides of a comparison, as the address has them or as they are at first.

import { value } from '../../app/address.ts'
import { absolute, askedPeriod, isRelative, lengthNs, nowNs } from '../../app/period.ts'
import { zone } from '../../app/choices.ts'
import { dayTime } from '../../text/times.ts'

export type Kind = 'period' | 'pattern' | 'trace'

export interface Sides {
  readonly a: string
  readonly b: string
}

const DAY = '1d'
const WEEK = '7d'
export const EARLIER = [
  ['', 'as long, before'],
  [DAY, 'a day before'],
  [WEEK, 'a week before'],
] as const

/** "90m": whole seconds, for the API. */
const inSeconds = (ns: number): string => `${Math.round(ns / 1e9)}s`

/** The period of the frame against an earlier one. undefined: it has no begin, so that nothing is before. */
export function periodSides(earlier: string): Sides | undefined {
  const { since, until } = askedPeriod()
  const back = lengthNs(earlier)
  const length = since === undefined ? undefined : lengthNs(since)
  if (isRelative() && length !== undefined && until === undefined) {
    const by = back ?? length
    return { a: `${inSeconds(length + by)}..${inSeconds(by)}`, b: `${since!}..` }
  }
  const asked = absolute(nowNs())
  if (since === undefined || asked === undefined) return undefined
  const by = back === undefined ? asked.untilNs - asked.sinceNs : BigInt(back)
  return {
    a: `${asked.sinceNs - by}..${asked.untilNs - by}`,
    b: `${asked.sinceNs}..${asked.untilNs}`,
  }
}

export function kindOf(): Kind {
  const kind = value('kind')
  if (kind === 'pattern' || kind === 'trace') return kind
  if (kind === undefined && /^[0-9a-f]{16}$/.test(value('a') ?? '')) return 'trace'
  return kind === undefined && /^[0-9a-f]{17,}$/.test(value('a') ?? '') ? 'pattern' : 'period'
}

export function chosenSides(): Sides | undefined {
  const [a, b] = [value('a'), value('b')]
  if (a !== undefined && b !== undefined) return { a, b }
  return kindOf() === 'period' ? periodSides(value('earlier') ?? '') : undefined
}

function pointText(text: string): string {
  if (/^\d{16,}$/.test(text)) return dayTime(BigInt(text), zone.value)
  const seconds = /^(\d+)s$/.exec(text)
  if (seconds && Number(seconds[1]) % 3600 === 0) return `${Number(seconds[1]) / 3600} h ago`
  if (seconds && Number(seconds[1]) % 60 === 0) return `${Number(seconds[1]) / 60} min ago`
  return text === '' ? 'now' : `${text} ago`
}

/** A side as people read it. */
export function sideText(kind: Kind, side: string): string {
  if (kind !== 'period') return kind === 'trace' ? side : `pattern ${side.slice(0, 8)}…`
  const [from = '', to = ''] = side.split('..')
  return `${from === '' ? 'the begin' : pointText(from)} to ${pointText(to)}`
}
