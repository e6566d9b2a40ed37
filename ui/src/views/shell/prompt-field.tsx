// The line in which an analysis is typed, as in a terminal: what may come next is offered, Tab takes it, Enter runs it.

import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Analysis } from '../../api/shell.ts'
import { Copy } from '../../parts/view.tsx'
import { t } from '../../text/t.ts'
import { visible } from '../../text/visible.ts'
import type { Names } from './form.tsx'
import { commandOfLine, commonLine, offersOf, readLine, type Offer, type Read } from './prompt.ts'

const LIST = 'prompt-offers'
const optionId = (i: number): string => `${LIST}-${i}`

interface Props {
  readonly analyses: readonly Analysis[]
  readonly names: Names
  /** What the fields below say, without "plumb". */
  readonly command: string
  /** What is typed; undefined: nothing, the line is that of the fields. */
  readonly typed: string | undefined
  readonly type: (line: string | undefined) => void
  /** Lines of earlier runs, the newest first. */
  readonly earlier: readonly string[]
  readonly busy: boolean
  readonly run: (read: Read) => void
}

/** Which of the offers is marked, and whether they are seen. */
interface Listed {
  readonly open: boolean
  readonly at: number
}

const CLOSED: Listed = { open: false, at: -1 }

/** Up and down in a list that begins and ends with none. */
const turned = (at: number, by: 1 | -1, count: number): number => ((at + 1 + by + count + 1) % (count + 1)) - 1

function useKeys(props: Props, line: string, offers: readonly Offer[]) {
  const { type, earlier } = props
  const [listed, setListed] = useState(CLOSED)
  const [past, setPast] = useState(-1)
  const open = listed.open && offers.length > 0
  const take = (next: string): void => {
    type(next)
    setListed({ open: true, at: -1 })
  }
  /** False: the key is not for the line. */
  const act = (key: string): boolean => {
    const marked = open ? offers[listed.at] : undefined
    const by = key === 'ArrowDown' ? 1 : -1
    switch (key) {
      case 'ArrowDown':
      case 'ArrowUp':
        if (open) setListed({ open, at: turned(listed.at, by, offers.length) })
        else {
          const next = Math.min(Math.max(past - by, -1), earlier.length - 1)
          setPast(next)
          type(earlier[next])
        }
        return true
      case 'Tab': {
        const next = open ? (marked?.line ?? commonLine(line, offers)) : undefined
        if (next === undefined) return false
        take(next)
        return true
      }
      case 'Enter':
        if (marked === undefined) return false
        take(marked.line)
        return true
      case 'Escape':
        if (open) setListed(CLOSED)
        else type(undefined)
        return true
      default:
        return false
    }
  }
  return { open, at: listed.at, act, take, setListed, setPast }
}

function Offers({ offers, at, take }: { offers: readonly Offer[]; at: number; take: (line: string) => void }): VNode {
  return (
    <ul class="offers" id={LIST} role="listbox" aria-label={t('What may come next')}>
      {offers.map((offer, i) => (
        <li
          key={offer.text}
          id={optionId(i)}
          role="option"
          aria-selected={i === at}
          // The field keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault()
            take(offer.line)
          }}
        >
          <bdi>{visible(offer.text)}</bdi>
        </li>
      ))}
    </ul>
  )
}

export function PromptField(props: Props): VNode {
  const { analyses, names, command, typed, type, busy, run } = props
  const line = typed ?? command
  const offers = typed === undefined ? [] : offersOf(line, analyses, names)
  const { open, at, act, take, setListed, setPast } = useKeys(props, line, offers)
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault()
        setListed(CLOSED)
        setPast(-1)
        run(readLine(line, analyses))
      }}
    >
      <label for="prompt">
        <code>plumb</code>
      </label>
      <span class="prompt-line">
        <input
          id="prompt"
          type="text"
          role="combobox"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-label={t('A command of plumb: Tab completes, Enter runs it, up and down show earlier ones')}
          aria-autocomplete="list"
          aria-expanded={open}
          {...(open ? { 'aria-controls': LIST } : {})}
          {...(open && at >= 0 ? { 'aria-activedescendant': optionId(at) } : {})}
          value={line}
          onInput={(event) => {
            type(event.currentTarget.value)
            setListed({ open: true, at: -1 })
          }}
          onBlur={() => setListed(CLOSED)}
          onKeyDown={(event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return
            if (act(event.key)) event.preventDefault()
          }}
        />
        {open && <Offers offers={offers} at={at} take={take} />}
      </span>
      <button type="submit" disabled={busy}>
        {t('Run the line')}
      </button>
      <Copy text={() => commandOfLine(line, analyses)} label={t('copy')} />
    </form>
  )
}
