// How things are shown: zone, live, theme, help.

import type { VNode } from 'preact'
import { theme, zone, zoneName, type Theme } from '../app/choices.ts'
import { live } from '../app/live.ts'
import { isRelative } from '../app/period.ts'
import { askAgain } from '../app/question.ts'
import { helpShown } from './help.tsx'

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' }

export const nextTheme = (): void => void (theme.value = NEXT[theme.value])
export const otherZone = (): void => void (zone.value = zone.value === 'utc' ? 'local' : 'utc')
export const toggleLive = (): void => void (live.value = !live.value)

export function Choices(): VNode {
  const relative = isRelative()
  return (
    <div class="choices">
      <button type="button" title="Ask again (r)" aria-label="Ask again" onClick={askAgain}>
        ↻
      </button>
      <button
        type="button"
        class={live.value ? 'on' : ''}
        aria-pressed={live.value}
        disabled={!relative}
        title={relative ? 'Ask again every 15 s (l)' : 'Only a period that ends now is live'}
        onClick={toggleLive}
      >
        <span class="dot" aria-hidden="true" /> live
      </button>
      <button type="button" title="Time zone (z)" onClick={otherZone}>
        {zoneName()}
      </button>
      <button type="button" title={`Theme: ${theme.value}`} aria-label={`Theme: ${theme.value}`} onClick={nextTheme}>
        {SIGNS[theme.value]}
      </button>
      <button type="button" title="Keys and help (?)" aria-label="Help" onClick={() => (helpShown.value = true)}>
        ?
      </button>
    </div>
  )
}
