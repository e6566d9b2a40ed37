// Numbers as `plumb` writes them (analyzer/cli/out/units.c): three significant digits and a unit that fits, never more
// digits than were measured. The test holds this file to the cases of `plumb`'s own test.

const TIME_UNITS: readonly (readonly [number, string])[] = [
  [1e9 * 86400, 'd'],
  [1e9 * 3600, 'h'],
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
]
const THOUSANDS = ['', 'k', 'M', 'G', 'T', 'P']

function decimalsOf(value: number, most: number): number {
  const size = Math.abs(value)
  return Math.min(size < 9.995 ? 2 : size < 99.95 ? 1 : 0, most)
}

function decimalsKnown(unit: number, resolution: number): number {
  const digits = Math.log10(unit / resolution)
  return digits <= 0 ? 0 : Math.floor(digits + 1e-9)
}

function timeUnit(ns: number): number {
  const size = Math.abs(ns)
  if (size >= 1e9 * 3600 * 1000) return 0
  if (size >= 1e9 * 99999.5) return 1
  if (size >= 999.5e6) return 2
  if (size >= 999.5e3) return 3
  return size >= 999.5 ? 4 : 5
}

/** To the nearest, halves to the even one, as C rounds. */
function roundEven(value: number): number {
  const down = Math.floor(value)
  const rest = value - down
  return rest < 0.5 ? down : rest > 0.5 ? down + 1 : down % 2 === 0 ? down : down + 1
}

function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function duration(ns: number, resolutionNs = 1): string {
  const resolution = Math.max(resolutionNs, 1)
  const rounded = (resolution > 1 ? roundEven(ns / resolution) * resolution : ns) + 0
  let unit = TIME_UNITS[timeUnit(rounded)]!
  if (resolution > 1 && unit[0] < resolution) unit = TIME_UNITS[timeUnit(resolution)]!
  const value = rounded / unit[0]
  if (Math.abs(value) >= 999.5 && Math.abs(value) < 1e15)
    return `${value < 0 ? '-' : ''}${groupDigits(roundEven(Math.abs(value)))} ${unit[1]}`
  return `${value.toFixed(decimalsOf(value, decimalsKnown(unit[0], resolution)))} ${unit[1]}`
}

export function durationSigned(ns: number, resolutionNs = 1): string {
  return (ns > 0 ? '+' : '') + duration(ns, resolutionNs)
}

export function age(ns: number): string {
  const units = [
    [86400e9, 'd'],
    [3600e9, 'h'],
    [60e9, 'min'],
    [1e9, 's'],
  ] as const
  const unit = units.find(([size]) => ns >= 2 * size) ?? units[3]
  return `${Math.floor(Math.max(ns, 0) / unit[0])} ${unit[1]}`
}

/** How fine the mean of n durations is that were each counted in resolutionNs. */
export function meanResolution(resolutionNs: number, n: number): number {
  let resolution = Math.max(resolutionNs, 1)
  for (let left = n; left >= 100 && resolution >= 10; left = Math.floor(left / 100)) resolution /= 10
  return resolution
}

function scaled(value: number, suffix: string): string {
  let i = 0
  for (; Math.abs(value) >= (i === 0 ? 1000 : 999.5) && i + 1 < THOUSANDS.length; i++) value /= 1000
  const unit = THOUSANDS[i]!
  const decimals = i === 0 && Number.isInteger(value) ? 0 : decimalsOf(value, 2)
  return `${value.toFixed(decimals)}${unit !== '' || suffix.startsWith('B') ? ' ' : ''}${unit}${suffix}`
}

export function count(value: number): string {
  if (Math.abs(value) < 999999.5) return (value < 0 ? '-' : '') + groupDigits(roundEven(Math.abs(value)))
  return scaled(value, '')
}

export const bytes = (value: number): string => scaled(value, 'B')
export const bytesPerS = (value: number): string => scaled(value, 'B/s')
export const perS = (value: number): string => scaled(value, '/s')

export function percent(value: number): string {
  if (Math.abs(value) >= 9999.5) return value > 0 ? '> +9999 %' : '< -9999 %'
  return `${value > 0 ? '+' : ''}${value.toFixed(Math.min(decimalsOf(value, 2), 1))} %`
}

/** Of a whole: "12.3 %". */
export const share = (part: number, whole: number): string =>
  whole > 0 ? percent((100 * part) / whole).replace('+', '') : '-'
