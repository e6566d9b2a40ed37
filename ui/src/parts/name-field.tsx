// A field for a name that is stored: what fits is suggested while one types.

import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { NamesAnswer } from '../api/answers.ts'
import { go, value } from '../app/address.ts'
import { askedPeriod } from '../app/period.ts'
import { useQuestion } from '../app/question.ts'
import { t } from '../text/t.ts'

const SUGGESTED = '20'
const PAUSE_MS = 200

/** What is typed, once no key was pressed for a moment; undefined: the field has no focus. */
function useTyped(): [string | undefined, (text: string | undefined) => void] {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [settled, setSettled] = useState<string | undefined>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), typed === undefined ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return [settled, setTyped]
}

export function NameField(props: {
  name: string
  kind: 'function' | 'host'
  label: string
  /** What else changes when it is entered. */
  changes?: Readonly<Record<string, undefined>>
}): VNode {
  const [typed, setTyped] = useTyped()
  const role = props.kind === 'function' ? value('role') : undefined
  const answer = useQuestion<NamesAnswer>(
    'names',
    typed === undefined ? null : { ...askedPeriod(), kind: props.kind, text: typed, role, limit: SUGGESTED },
  )
  const names = [...new Set((answer.data?.names ?? []).map((row) => row.name))]
  const list = `names-${props.name}`
  return (
    <label>
      <span class="label">{props.label}</span>
      <input
        type="text"
        spellcheck={false}
        autocomplete="off"
        list={list}
        value={value(props.name) ?? ''}
        placeholder={props.kind === 'host' ? t('host') : t('function')}
        size={14}
        onFocus={(event) => setTyped(event.currentTarget.value)}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => setTyped(undefined)}
        onChange={(event) => go({ ...props.changes, [props.name]: event.currentTarget.value.trim() })}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  )
}
