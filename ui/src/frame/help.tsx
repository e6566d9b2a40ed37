// Keys, and how to read the page.

import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { letterKeys } from '../app/choices.ts'
import { allKeys } from '../app/keys.ts'
import { t, tx } from '../text/t.ts'

export const helpShown = signal(false)

interface Keys {
  readonly keys: string
  readonly does: string
}

/** Of what has the focus: they are with it, in views and marks. */
const OF_CHARTS: readonly Keys[] = [
  { keys: '← → ↑ ↓', does: t('to the next cell, node or task') },
  { keys: 'Shift ←', does: t('widen the rectangle') },
  { keys: 'Enter', does: t('choose it; of a node, show only what is below it') },
  { keys: 'Esc', does: t('leave it') },
]
const OF_TRACES: readonly Keys[] = [
  { keys: 'j k ↑ ↓', does: t('the next call, the one before; in lanes down, up') },
  { keys: '← →', does: t('fold, or to the caller; unfold; in lanes along the line') },
  { keys: '_ *', does: t('fold, unfold all below') },
  { keys: 'o O', does: t('fold what it calls; of all calls of its function') },
  { keys: 'e', does: t('equal siblings: together, or a row each') },
  { keys: 'w s + -', does: t('zoom in, out') },
  { keys: 'a d', does: t('earlier, later') },
  { keys: 'f 0', does: t('fit the call; all of the trace') },
  { keys: 'c x', does: t('critical path; slowest 5 %') },
  { keys: 'n N', does: t('the next, the one before of what is asked for') },
  { keys: 'm', does: t('sum what is shown') },
]

function KeyList({ of }: { of: readonly Keys[] }): VNode {
  return (
    <dl class="keys">
      {of.map((key) => (
        <div key={key.keys}>
          <dt>
            {key.keys.split(' ').map((one) => (
              <kbd key={one}>{one}</kbd>
            ))}
          </dt>
          <dd>{key.does}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Help(): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (helpShown.value = false)}>
      <h2 id="help-title">{t('Keys')}</h2>
      <KeyList of={allKeys()} />
      <label>
        <input
          type="checkbox"
          checked={letterKeys.value}
          onChange={(event) => (letterKeys.value = event.currentTarget.checked)}
        />{' '}
        {t('single letters are keys')}
      </label>
      <h2>{t('In a chart or tree that has the focus')}</h2>
      <KeyList of={OF_CHARTS} />
      <h2>{t('In a trace, where its calls have the focus')}</h2>
      <KeyList of={OF_TRACES} />
      <h2>{t('Reading')}</h2>
      <p>
        {tx(
          'Numbers have three digits. {code}: within 0.8 %. {code2}: not measured. Self time is a call’s own, without what it called; critical time is the share of it for which the root really waited. A link with its whole state is the address of the page.',
          { code: <code>~</code>, code2: <code>-</code> },
        )}
      </p>
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {t('Close')}
        </button>
      </p>
    </dialog>
  )
}
