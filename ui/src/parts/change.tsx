// What became of a function or a call, by sign, word and colour.

import type { VNode } from 'preact'
import type { Change, DiffRow } from '../api/diff.ts'
import { t } from '../text/t.ts'
import { durationSigned, percent } from '../text/units.ts'
import { word } from '../text/words.ts'

const SIGNS: Readonly<Record<Change, string>> = { slower: '▲', faster: '▼', new: '+', gone: '−', same: '=' }

export function ChangeWord({ state }: { state: Change }): VNode {
  return (
    <span class={`change ${state}`}>
      <span aria-hidden="true">{SIGNS[state]}</span> {word(state)}
    </span>
  )
}

/** Doublings at which a colour is full, and its shades. */
const FULL_DOUBLINGS = 2
const SHADES = 4

export function toneOf(row: DiffRow): { className: string; text: string } {
  if (row.state === 'new' || row.state === 'gone') return { className: `tone-${row.state}`, text: word(row.state) }
  const times = (row.b?.mean_ns ?? 0) / Math.max(row.a?.mean_ns ?? 0, 1)
  if (row.state === 'same' || times <= 0) return { className: 'tone-same', text: t('no change to speak of') }
  const shade = Math.max(1, Math.min(SHADES, Math.ceil((Math.abs(Math.log2(times)) / FULL_DOUBLINGS) * SHADES)))
  return { className: `tone-${row.state}-${shade}`, text: changeText(row) }
}

export function changeText(row: DiffRow): string {
  if (row.mean_change_ns === undefined) return word(row.state)
  const ns = durationSigned(row.mean_change_ns, row.b?.resolution_ns ?? 1)
  return row.mean_change_percent === undefined ? ns : `${ns}, ${percent(row.mean_change_percent)}`
}

/** Beyond any chance is beyond any chance. */
const Z_SHOWN = 999
export function zText(z: number | undefined): string {
  if (z === undefined) return '-'
  return Math.abs(z) > Z_SHOWN ? `${z < 0 ? '< -' : '> '}${Z_SHOWN}` : z.toFixed(1)
}
