// One field for ids, paths, applications, hosts and functions.

import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { NamesAnswer } from '../api/answers.ts'
import { ask, questionPath, type Parameters } from '../api/ask.ts'
import type { AppsAnswer } from '../api/spark.ts'
import { linkTo } from '../app/address.ts'
import { askedPeriod } from '../app/period.ts'
import { useWaiting } from '../app/question.ts'
import { t } from '../text/t.ts'
import { placeOfName, placeOfText, type Place } from './place.ts'

export const SEARCH_FIELD = 'search'
const NAMES = '20'
const APPS = '200'

/** undefined: there is no answer. A search goes on without it. */
async function answerOf<T>(question: string, parameters: Parameters, signal: AbortSignal): Promise<T | undefined> {
  try {
    return (await ask(questionPath(question, parameters), signal)) as T
  } catch {
    return undefined
  }
}

async function namesWith(text: string, kind: 'host' | 'function', signal: AbortSignal): Promise<string[]> {
  const asked = { ...askedPeriod(), kind, text, limit: NAMES }
  const answer = await answerOf<NamesAnswer>('names', asked, signal)
  return (answer?.names ?? []).map((row) => row.name)
}

async function findPlace(text: string, signal: AbortSignal): Promise<Place> {
  const [hosts, functions, apps] = await Promise.all([
    namesWith(text, 'host', signal),
    namesWith(text, 'function', signal),
    answerOf<AppsAnswer>('apps', { limit: APPS }, signal),
  ])
  return placeOfName(text, { hosts, functions, apps: apps?.apps ?? [] })
}

/** Goes to where a text leads, unless another one is looked for meanwhile, or the reader went elsewhere. */
function useSearch(): { searching: boolean; search: (text: string) => void } {
  const before = useRef<AbortController>(undefined)
  const [searching, setSearching] = useState(false)
  useWaiting(searching)
  const go = ({ view, id, values }: Place): void => void (location.hash = linkTo(view, id, values))
  const search = (text: string): void => {
    before.current?.abort()
    const abort = new AbortController()
    before.current = abort
    const place = placeOfText(text)
    if (place !== undefined) {
      setSearching(false)
      go(place)
      return
    }
    setSearching(true)
    const from = location.hash
    void findPlace(text, abort.signal).then((found) => {
      if (abort.signal.aborted) return
      setSearching(false)
      if (location.hash === from) go(found)
    })
  }
  return { searching, search }
}

export function Search(): VNode {
  const field = useRef<HTMLInputElement>(null)
  const { searching, search } = useSearch()
  return (
    <form
      class="search"
      role="search"
      aria-busy={searching}
      onSubmit={(event) => {
        event.preventDefault()
        const text = field.current?.value.trim() ?? ''
        if (text === '') return
        field.current?.blur()
        search(text)
      }}
    >
      <input
        ref={field}
        id={SEARCH_FIELD}
        type="search"
        spellcheck={false}
        aria-label={t('Search: a trace id, /a/path, or a name, or a part of one, of a function, host or application')}
        placeholder={t('function, host, app, /path, trace id   ( / )')}
      />
    </form>
  )
}
