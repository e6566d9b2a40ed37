// The page's texts. English is the key; another language's table is loaded before anything else runs, so that a text
// may stand in a constant of a module, and the page begins anew when another language is chosen.

import type { ComponentChildren } from 'preact'

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]
/** Each in itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' }
export const LANGUAGE_TAGS: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' }

const KEPT = 'plumbline.language'

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT)
  } catch {
    return null // A browser may forbid it.
  }
}

/** What was chosen; else the first of the browser's languages that there is. */
export function languageOf(chosen: string | null, browser: readonly string[]): Language {
  const known = (name: string): Language | undefined =>
    LANGUAGES.find((one) => one === name.toLowerCase().split('-')[0])
  return (chosen === null ? undefined : known(chosen)) ?? browser.map(known).find((one) => one !== undefined) ?? 'en'
}

/** Tests run without a document: they see English. */
const inPage = typeof document !== 'undefined'
const wanted: Language = inPage ? languageOf(kept(), navigator.languages) : 'en'

type Texts = Readonly<Record<string, string>>

async function load(): Promise<Texts | undefined> {
  try {
    return (await import('./zh.json')).default
  } catch {
    return undefined // plumbd is away, or another version by now: English is better than no page.
  }
}

const texts: Texts | undefined = wanted === 'zh' ? await load() : undefined

/** In which the page is. */
export const language: Language = texts === undefined ? 'en' : wanted
if (inPage) document.documentElement.lang = LANGUAGE_TAGS[language]

export function chooseLanguage(next: Language): void {
  try {
    localStorage.setItem(KEPT, next)
  } catch {
    // It cannot be kept: the browser's own language stays.
  }
  location.reload()
}

type Values<T> = Readonly<Record<string, T>>

const PLACE = /\{(\w+)\}/

/** A text, and what stands at its places: t('{calls} calls', { calls: count(3) }). */
export function t(english: string, values: Values<string | number | undefined> = {}): string {
  const parts = (texts?.[english] ?? english).split(PLACE)
  return parts.map((part, i) => (i % 2 === 0 ? part : String(values[part] ?? ''))).join('')
}

/** The same for texts in which there are elements: links, names. */
export function tx(english: string, values: Values<ComponentChildren>): ComponentChildren {
  const parts = (texts?.[english] ?? english).split(PLACE)
  return parts.map((part, i) => (i % 2 === 0 ? part : values[part]))
}
