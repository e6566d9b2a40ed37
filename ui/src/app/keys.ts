// Keys that hold everywhere. Those of a chart or a list are with it, and need its focus.

import { letterKeys } from './choices.ts'

export interface Key {
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

let known: readonly Key[] = []
let begun: string | undefined

/** What takes keys itself. A checkbox does not: in a dialog that is just closing it may still have the focus. */
const TAKES_KEYS = 'dialog[open], input:not([type=checkbox]), select, textarea, [contenteditable]'

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest(TAKES_KEYS) !== null

const isOfThePage = (event: KeyboardEvent): boolean =>
  !(event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) &&
  (letterKeys.value || event.key.length > 1)

function didRun(event: KeyboardEvent, keys: string): boolean {
  const key = known.find((one) => one.keys === keys)
  if (key === undefined) return false
  event.preventDefault()
  key.run()
  return true
}

/** The second one of two, before what has the focus takes it for its own. */
function onSecondKey(event: KeyboardEvent): void {
  if (begun === undefined) return
  const keys = `${begun} ${event.key}`
  begun = undefined
  if (isOfThePage(event) && didRun(event, keys)) event.stopPropagation()
}

function onKey(event: KeyboardEvent): void {
  if (!isOfThePage(event) || didRun(event, event.key)) return
  if (known.some((one) => one.keys.startsWith(`${event.key} `))) begun = event.key
}

export function listenToKeys(keys: readonly Key[]): void {
  known = keys
  addEventListener('keydown', onSecondKey, { capture: true })
  addEventListener('keydown', onKey)
}

export const allKeys = (): readonly Key[] => known
