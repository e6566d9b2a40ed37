// Points in time are whole nanoseconds since 1970 and larger than 2^53, so they are BigInt.

export type Zone = 'utc' | 'local'

const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0')

interface Parts {
  readonly day: string
  readonly clock: string
}

function partsOf(ns: bigint, zone: Zone): Parts {
  const ms = Number(ns >= 0n || ns % 1_000_000n === 0n ? ns / 1_000_000n : ns / 1_000_000n - 1n)
  const at = new Date(ms)
  return zone === 'utc'
    ? {
        day: `${pad(at.getUTCFullYear(), 4)}-${pad(at.getUTCMonth() + 1)}-${pad(at.getUTCDate())}`,
        clock: `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}:${pad(at.getUTCSeconds())}`,
      }
    : {
        day: `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`,
        clock: `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`,
      }
}

function fraction(ns: bigint, digits: number): string {
  const rest = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return digits === 0 ? '' : `.${String(rest).padStart(9, '0').slice(0, digits)}`
}

/** "2026-11-21T10:00:00.123Z": as `plumb` writes it and --since takes it. */
export function utcTime(ns: bigint, digits = 3): string {
  const { day, clock } = partsOf(ns, 'utc')
  return `${day}T${clock}${fraction(ns, digits)}Z`
}

/** For people: "2026-11-21 10:00:00". */
export function dayTime(ns: bigint, zone: Zone, digits = 0): string {
  const { day, clock } = partsOf(ns, zone)
  return `${day} ${clock}${fraction(ns, digits)}`
}

export function clockTime(ns: bigint, zone: Zone, digits = 0): string {
  return partsOf(ns, zone).clock + fraction(ns, digits)
}

/** For an axis: as much as its steps need. */
export function axisTime(ns: bigint, zone: Zone, stepNs: number): string {
  const { day, clock } = partsOf(ns, zone)
  if (stepNs >= 86400e9) return day.slice(5)
  if (stepNs >= 60e9) return clock.startsWith('00:00') ? day.slice(5) : clock.slice(0, 5)
  return clock + fraction(ns, stepNs >= 1e9 ? 0 : stepNs >= 1e6 ? 3 : 6)
}

const STEPS_NS = [
  ...[1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((size) => [1, 2, 5].map((n) => n * size)),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1e9),
  ...[2, 7, 14, 28, 91, 364].map((days) => days * 86400e9),
]

/** Round steps of which at most 'most' fit into a length of time. */
export function roundStep(lengthNs: number, most: number): number {
  return STEPS_NS.find((step) => lengthNs / step <= most) ?? STEPS_NS[STEPS_NS.length - 1]!
}

/** Ticks at round times within [since, until]. */
export function ticks(sinceNs: bigint, untilNs: bigint, most: number): { step: number; at: bigint[] } {
  const step = roundStep(Number(untilNs - sinceNs), most)
  const wide = BigInt(step)
  const at: bigint[] = []
  for (let ns = ((sinceNs + wide - 1n) / wide) * wide; ns <= untilNs; ns += wide) at.push(ns)
  return { step, at }
}
