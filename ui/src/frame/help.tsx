// Keys, and how to read the page.

import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { letterKeys } from '../app/choices.ts'
import { allKeys } from '../app/keys.ts'
import { t, tx } from '../text/t.ts'

export const helpShown = signal(false)

export function Help(): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (helpShown.value = false)}>
      <h2 id="help-title">{t('Keys')}</h2>
      <dl class="keys">
        {allKeys().map((key) => (
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
      <label>
        <input
          type="checkbox"
          checked={letterKeys.value}
          onChange={(event) => (letterKeys.value = event.currentTarget.checked)}
        />{' '}
        {t('single letters are keys')}
      </label>
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
