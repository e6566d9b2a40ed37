// The address of the page, as a signal.

import { computed, signal } from '@preact/signals'
import { changeRoute, formatRoute, parseRoute, type Changes, type Route } from './route.ts'

const FIRST_VIEW = 'overview'
const REPLACE_EVERY_MS = 250

const read = (): Route => parseRoute(location.hash, FIRST_VIEW)
export const route = signal<Route>(read())

/** What is drawn is of the address in the document's data-address: who waits for a page compares it with the location. */
const tellAddress = (): void => {
  document.documentElement.dataset.address = location.hash
}
tellAddress()

addEventListener('hashchange', () => {
  tellAddress()
  const now = read()
  if (formatRoute(now) !== formatRoute(route.value)) route.value = now
})

const navigation = (window as unknown as { navigation?: EventTarget }).navigation
// Not in every browser yet: there, the place on the page is left to the browser, always.
let traversed = navigation === undefined
navigation?.addEventListener('navigate', (event) => {
  traversed = (event as unknown as { navigationType?: string }).navigationType === 'traverse'
})

/** The address was come to through the history: the browser has the place on the page where a reader was. */
export const wentBack = (): boolean => traversed

/** What every view keeps when another one is gone to. */
const KEPT = ['since', 'until']

export function linkTo(view: string, id = '', changes: Changes = {}): string {
  const kept: Record<string, readonly string[]> = {}
  for (const name of KEPT) {
    const values = route.value.values[name]
    if (values) kept[name] = values
  }
  return formatRoute(changeRoute({ view, id, values: kept }, changes))
}

/** A task's place in its stage. */
export const linkToTask = (app: string, of: { stage: number; stage_attempt: number; task: number }): string =>
  linkTo('stage', app, { stage: `${of.stage}.${of.stage_attempt}`, sel: String(of.task) })

export const linkWith = (changes: Changes): string => formatRoute(changeRoute(route.value, changes))

/** The whole address with times that stay, for somebody else. */
export function lastingLink(sinceNs: bigint, untilNs: bigint): string {
  const values = { ...route.value.values, since: [String(sinceNs)], until: [String(untilNs)] }
  return location.href.replace(/#.*|$/, '') + formatRoute({ ...route.value, values })
}

/** A new entry of the history. The page follows at once, not only when the browser has told of the new address. */
export function go(changes: Changes): void {
  const next = changeRoute(route.value, changes)
  location.hash = formatRoute(next)
  route.value = next
}

let waiting: ReturnType<typeof setTimeout> | undefined

/** The same entry of the history: for what changes often, as zoom does. */
export function refine(changes: Changes): void {
  route.value = changeRoute(route.value, changes)
  waiting ??= setTimeout(() => {
    waiting = undefined
    history.replaceState(null, '', formatRoute(route.value))
    tellAddress()
  }, REPLACE_EVERY_MS)
}

export const value = (name: string): string | undefined => route.value.values[name]?.[0]
export const values = (name: string): readonly string[] => route.value.values[name] ?? []

export const view = computed(() => route.value.view)
