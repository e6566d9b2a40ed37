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

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return
  if (!letterKeys.value && event.key.length === 1) return
  const keys = begun === undefined ? event.key : `${begun} ${event.key}`
  begun = undefined
  const key = known.find((one) => one.keys === keys)
  if (key) {
    event.preventDefault()
    key.run()
  } else if (known.some((one) => one.keys.startsWith(`${event.key} `))) {
    begun = event.key
  }
}

export function listenToKeys(keys: readonly Key[]): void {
  known = keys
  addEventListener('keydown', onKey)
}

export const allKeys = (): readonly Key[] => known
