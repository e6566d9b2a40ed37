// How things are shown: zone, live, theme, help.

import type { VNode } from 'preact'
import { theme, zone, zoneName, type Theme } from '../app/choices.ts'
import { live } from '../app/live.ts'
import { isRelative } from '../app/period.ts'
import { askAgain } from '../app/question.ts'
import { LANGUAGE_NAMES, LANGUAGE_TAGS, chooseLanguage, language, t } from '../text/t.ts'
import { helpShown } from './help.tsx'

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' }

const THEMES: Readonly<Record<Theme, string>> = { system: t('system'), light: t('light'), dark: t('dark') }

const otherLanguage = language === 'en' ? 'zh' : 'en'

export const nextTheme = (): void => void (theme.value = NEXT[theme.value])
export const otherZone = (): void => void (zone.value = zone.value === 'utc' ? 'local' : 'utc')
export const toggleLive = (): void => void (live.value = !live.value)

export function Choices(): VNode {
  const relative = isRelative()
  return (
    <div class="choices">
      <button type="button" title={t('Ask again (r)')} aria-label={t('Ask again')} onClick={askAgain}>
        ↻
      </button>
      <button
        type="button"
        class={live.value ? 'on' : ''}
        aria-pressed={live.value}
        disabled={!relative}
        title={relative ? t('Ask again every 15 s (l)') : t('Only a period that ends now is live')}
        onClick={toggleLive}
      >
        <span class="dot" aria-hidden="true" /> {t('live')}
      </button>
      <button type="button" title={t('Time zone (z)')} onClick={otherZone}>
        {zoneName()}
      </button>
      <button
        type="button"
        title={t('Theme: {theme}', { theme: THEMES[theme.value] })}
        aria-label={t('Theme: {theme}', { theme: THEMES[theme.value] })}
        onClick={nextTheme}
      >
        {SIGNS[theme.value]}
      </button>
      <button
        type="button"
        title={t('Language')}
        lang={LANGUAGE_TAGS[otherLanguage]}
        onClick={() => chooseLanguage(otherLanguage)}
      >
        {LANGUAGE_NAMES[otherLanguage]}
      </button>
      <button
        type="button"
        title={t('Keys and help (?)')}
        aria-label={t('Help')}
        onClick={() => (helpShown.value = true)}
      >
        ?
      </button>
    </div>
  )
}
