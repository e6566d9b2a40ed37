// A question of a view: asked when its address changes, again while it is live, no more once the view is left.

import { signal } from '@preact/signals'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Gone, Refused, ask, questionPath, type Parameters } from '../api/ask.ts'

const BUSY_TRIES_MS = 30_000
const BUSY_PAUSE_MS = 1_000
const GONE_PAUSE_MS = 2_000

export interface Answer<T> {
  readonly path: string
  /** Of this question, or while the next one is on its way of the one before. */
  readonly data?: T
  readonly loading: boolean
  /** plumbd's own words, or why there is no answer. */
  readonly error?: string
  /** plumbd is away: it is asked until it is back. */
  readonly gone: boolean
  /** There is no such thing as is asked for. */
  readonly unknown?: boolean
  /** Of data: performance.now(). */
  readonly answeredAt: number
}

/** Raised when everything is to be asked again. */
export const asked = signal(0)
export const askWhileLive = (): void => {
  asked.value++
}

/** Raised as well when it is a reader who asks. */
export const askedByReader = signal(0)
export const askAgain = (): void => {
  askedByReader.value++
  asked.value++
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const isOver = (signal: AbortSignal): boolean => signal.aborted

/** How an answer comes from its address: as a document, or otherwise. */
export type Reader = (path: string, signal: AbortSignal) => Promise<unknown>

async function askUntilAnswered<T>(
  path: string,
  read: Reader,
  signal: AbortSignal,
  tell: (change: (answer: Answer<T>) => Answer<T>) => void,
): Promise<void> {
  const begun = performance.now()
  while (!isOver(signal)) {
    try {
      const data = (await read(path, signal)) as T
      tell(() => ({ path, data, loading: false, gone: false, answeredAt: performance.now() }))
      return
    } catch (error) {
      if (isOver(signal)) return
      if (error instanceof Gone) {
        tell((answer) => ({ ...answer, path, loading: false, gone: true, error: error.message }))
        await pause(GONE_PAUSE_MS, signal)
      } else if (error instanceof Refused && error.status === 503 && performance.now() - begun < BUSY_TRIES_MS) {
        await pause(BUSY_PAUSE_MS, signal)
      } else {
        const why = error instanceof Error ? error.message : String(error)
        const unknown = error instanceof Refused && error.status === 404
        tell((answer) => ({ path, loading: false, gone: false, unknown, answeredAt: answer.answeredAt, error: why }))
        return
      }
    }
  }
}

let unanswered = 0

function tellUnanswered(change: number): void {
  unanswered += change
  document.documentElement.dataset.unanswered = String(unanswered)
}

/** Counts what a reader still waits for, in the document's data-unanswered. It is a layout effect: a question
    that an answer brings about counts before that answer counts no more, so that 0 means that the page is whole. */
export function useWaiting(waitedFor: boolean): void {
  useLayoutEffect(() => {
    if (!waitedFor) return
    tellUnanswered(1)
    return () => tellUnanswered(-1)
  }, [waitedFor])
}

/** Asked when a view is come to, and when a reader asks again, but not while it is live: for what costs plumbd much. */
export function useQuestionOnce<T>(question: string, parameters: Parameters | null): Answer<T> {
  return useAnswer<T>(question, parameters, ask, askedByReader.value)
}

/** parameters: null while it is not known what to ask. read: always the same function. */
export function useQuestion<T>(question: string, parameters: Parameters | null, read: Reader = ask): Answer<T> {
  return useAnswer<T>(question, parameters, read, asked.value)
}

/** again: another number has it asked again. */
function useAnswer<T>(question: string, parameters: Parameters | null, read: Reader, again: number): Answer<T> {
  const path = parameters === null ? '' : questionPath(question, parameters)
  const [answer, setAnswer] = useState<Answer<T>>({ path, loading: true, gone: false, answeredAt: 0 })
  // Not an effect, which waits for a frame: the overview's map asks for its function first.
  useLayoutEffect(() => {
    if (path === '') return
    const abort = new AbortController()
    setAnswer((before) => ({ ...before, loading: true, gone: before.gone }))
    void askUntilAnswered<T>(path, read, abort.signal, setAnswer)
    return () => abort.abort()
  }, [path, read, again])
  const loading = answer.loading || answer.path !== path
  useWaiting(loading && path !== '')
  return { ...answer, loading }
}
