// One field for ids, paths, applications and names.

import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { linkTo } from '../app/address.ts'
import { t } from '../text/t.ts'

export const SEARCH_FIELD = 'search'

/** Where a text leads to. */
export function placeOf(text: string): readonly [view: string, id: string, values: Record<string, string>] {
  if (/^[0-9a-f]{16}$|^[0-9a-f]{32}$/i.test(text)) return ['trace', text.toLowerCase(), {}]
  if (/^(app|application|local)[-_]\d/.test(text)) return ['app', text, {}]
  if (text.startsWith('/') || text.includes('://')) return ['traces', '', { path: text.replace(/^\w+:\/\/[^/]*/, '') }]
  return ['functions', '', { find: text }]
}

export function Search(): VNode {
  const field = useRef<HTMLInputElement>(null)
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const text = field.current?.value.trim() ?? ''
        if (text === '') return
        const [view, id, values] = placeOf(text)
        location.hash = linkTo(view, id, values)
        field.current?.blur()
      }}
    >
      <input
        ref={field}
        id={SEARCH_FIELD}
        type="search"
        spellcheck={false}
        aria-label={t("Search: a trace id, an application, /a/path, or a part of a function's name")}
        placeholder={t('trace id, app, /path, function   ( / )')}
      />
    </form>
  )
}
