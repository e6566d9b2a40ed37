// The period that is asked for: in the address as "since" and "until", as the API takes them.

import { go, value } from './address.ts'

export const PERIODS = ['15m', '1h', '6h', '1d', '7d'] as const
export const DEFAULT_PERIOD = '1h'
/** In the address only: everything that is stored. */
export const EVERYTHING = 'all'

const UNITS: Readonly<Record<string, number>> = { s: 1e9, m: 60e9, h: 3600e9, d: 86400e9, w: 7 * 86400e9 }

export interface AskedPeriod {
  readonly since?: string
  readonly until?: string
}

export function askedPeriod(): AskedPeriod {
  const since = value('since') ?? (value('until') === undefined ? DEFAULT_PERIOD : undefined)
  const until = value('until')
  return {
    ...(since === undefined || since === EVERYTHING ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

export const isRelative = (): boolean => value('until') === undefined && !/^\d{16,}$|T/.test(value('since') ?? '')

export function lengthNs(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text)
  return parts ? Number(parts[1]) * UNITS[parts[2]!]! : undefined
}

/** The same period half its length earlier (-1) or later (1), in absolute times. */
export function shifted(sinceNs: bigint, untilNs: bigint, by: -1 | 1): { since: string; until: string } {
  const half = (untilNs - sinceNs) / 2n
  return { since: String(sinceNs + BigInt(by) * half), until: String(untilNs + BigInt(by) * half) }
}

/** What is asked for, in absolute times; undefined: everything. */
export function absolute(nowNs: bigint): { sinceNs: bigint; untilNs: bigint } | undefined {
  const { since, until } = askedPeriod()
  const untilNs = until === undefined ? nowNs : pointOf(until, nowNs)
  const sinceNs = since === undefined ? undefined : pointOf(since, nowNs)
  return untilNs === undefined || sinceNs === undefined ? undefined : { sinceNs, untilNs }
}

export function pointOf(text: string, nowNs: bigint): bigint | undefined {
  if (text === 'now') return nowNs
  if (/^\d{10,}$/.test(text)) return BigInt(text)
  const ago = lengthNs(text)
  if (ago !== undefined) return nowNs - BigInt(Math.round(ago))
  const ms = Date.parse(/Z$|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n
}

/** What was dragged over on an axis, in either direction. */
export function choosePeriod(a: bigint, b: bigint): void {
  go(a < b ? { since: String(a), until: String(b) } : { since: String(b), until: String(a) })
}

export const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n

/** Two periods, as diff takes them. */
export interface Sides {
  readonly a: string
  readonly b: string
}

/** "90m": whole seconds, for the API. */
const inSeconds = (ns: number): string => `${Math.round(ns / 1e9)}s`

/** The period of the frame against an earlier one. undefined: it has no begin, so that nothing is before. */
export function periodSides(earlier: string, nowNs: bigint): Sides | undefined {
  const { since, until } = askedPeriod()
  const back = lengthNs(earlier)
  const length = since === undefined ? undefined : lengthNs(since)
  if (isRelative() && length !== undefined && until === undefined) {
    const by = back ?? length
    return { a: `${inSeconds(length + by)}..${inSeconds(by)}`, b: `${since!}..` }
  }
  const asked = absolute(nowNs)
  if (since === undefined || asked === undefined) return undefined
  const by = back === undefined ? asked.untilNs - asked.sinceNs : BigInt(back)
  return {
    a: `${asked.sinceNs - by}..${asked.untilNs - by}`,
    b: `${asked.sinceNs}..${asked.untilNs}`,
  }
}
