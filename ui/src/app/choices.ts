// What a reader chose for this browser: not part of an address.

import { effect, signal } from '@preact/signals'
import type { Zone } from '../text/times.ts'

export type Theme = 'system' | 'light' | 'dark'

function kept(name: string): string | null {
  try {
    return localStorage.getItem(`plumbline.${name}`)
  } catch {
    return null // A browser may forbid it.
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`plumbline.${name}`, value)
  } catch {
    // It is asked again in the next session, then.
  }
}

const oneOf = <T extends string>(text: string | null, ...allowed: readonly [T, ...T[]]): T =>
  allowed.find((value) => value === text) ?? allowed[0]

export const theme = signal<Theme>(oneOf(kept('theme'), 'system', 'light', 'dark'))
export const zone = signal<Zone>(oneOf(kept('zone'), 'utc', 'local'))
export const letterKeys = signal(kept('letter-keys') !== 'off')

const dark = matchMedia('(prefers-color-scheme: dark)')
export const darkNow = signal(dark.matches)
dark.addEventListener('change', () => (darkNow.value = dark.matches))

/** As the widths of style.css: a telephone. */
const small = matchMedia('(max-width: 600px)')
export const narrow = signal(small.matches)
small.addEventListener('change', () => (narrow.value = small.matches))

effect(() => {
  const shown = theme.value === 'system' ? (darkNow.value ? 'dark' : 'light') : theme.value
  document.documentElement.dataset.theme = shown
  keep('theme', theme.value)
})
effect(() => keep('zone', zone.value))
effect(() => keep('letter-keys', letterKeys.value ? 'on' : 'off'))

export const zoneName = (): string => (zone.value === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone)
