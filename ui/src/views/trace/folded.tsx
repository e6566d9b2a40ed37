// What is folded in the lanes, and the ways out.

import type { VNode } from 'preact'
import { refine, values } from '../../app/address.ts'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { unfoldAll } from './folds.ts'
import type { Shown } from './shown.ts'

export function FoldedNote({ shown }: { shown: Shown }): VNode {
  const { hidden } = shown
  if (hidden === undefined || hidden.folded === 0) return <></>
  const functions = values('folded')
  return (
    <p class="folded-note">
      <span role="status">
        {tx('{calls} calls with {self} of their own are folded into {folded}.', {
          calls: count(hidden.calls),
          self: duration(hidden.self),
          folded: count(hidden.folded),
        })}
      </span>{' '}
      {functions.map((name) => (
        <span key={name} class="chip">
          <b>{visible(name)}</b>
          <button
            type="button"
            aria-label={t('Unfold {name}', { name: visible(name) })}
            onClick={() => refine({ folded: functions.filter((one) => one !== name) })}
          >
            ×
          </button>
        </span>
      ))}{' '}
      <button type="button" class="small" onClick={unfoldAll}>
        {t('Unfold all')}
      </button>
    </p>
  )
}
