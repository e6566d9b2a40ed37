// What is above every view: its question, the answer as a sentence, and the same as a `plumb` command and as JSON.

import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { questionPath, type Parameters } from '../api/ask.ts'
import { plumbCommand } from '../text/command.ts'
import { t } from '../text/t.ts'

export interface Asked {
  readonly question: string
  readonly parameters: Parameters
  /** false: `plumb` has no such command. */
  readonly command?: boolean
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false // Without TLS browsers allow it for localhost only: the text can be selected.
  }
}

export function Copy({ text, label }: { text: string | (() => string); label: string }): VNode {
  const [said, setSaid] = useState('')
  return (
    <button
      type="button"
      class="small quiet"
      onClick={() =>
        void copy(typeof text === 'string' ? text : text()).then((done) =>
          setSaid(done ? t('copied') : t('select it, and copy')),
        )
      }
      onBlur={() => setSaid('')}
    >
      {said === '' ? label : said}
    </button>
  )
}

function Same({ asked }: { asked: Asked }): VNode {
  const command = plumbCommand(asked.question, asked.parameters)
  return (
    <p class="same">
      {asked.command !== false && (
        <>
          <code>{command}</code>
          <Copy text={command} label={t('copy')} />
        </>
      )}
      <a href={questionPath(asked.question, asked.parameters)} target="_blank" rel="noreferrer">
        {asked.command === false ? `${asked.question}: JSON` : 'JSON'}
      </a>
    </p>
  )
}

/** The same questions in a terminal and as JSON. */
export function Sames({ asked }: { asked: readonly Asked[] }): VNode {
  return (
    <>
      {asked.map((one) => (
        <Same key={one.question + JSON.stringify(one.parameters)} asked={one} />
      ))}
    </>
  )
}

export function View(props: {
  title: string
  /** The question that the view answers. */
  question: string
  sentence?: ComponentChildren
  asked: readonly Asked[]
  tools?: ComponentChildren
  children: ComponentChildren
}): VNode {
  return (
    <main class="view" id="view" tabIndex={-1}>
      <div class="view-head">
        <div>
          <h1>{props.title}</h1>
          <p class="question">{props.question}</p>
        </div>
        {props.tools !== undefined && <div class="tools">{props.tools}</div>}
      </div>
      {props.sentence !== undefined && <p class="sentence">{props.sentence}</p>}
      {props.children}
      <footer class="sames" aria-label={t('The same in a terminal and as JSON')}>
        <Sames asked={props.asked} />
      </footer>
    </main>
  )
}
