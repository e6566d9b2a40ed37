// Around every view: where one can go, the period, and how things are shown.

import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { StatusAnswer } from '../api/answers.ts'
import { linkTo, route, wentBack } from '../app/address.ts'
import { live } from '../app/live.ts'
import { useQuestion } from '../app/question.ts'
import { storeStatus } from '../app/store.ts'
import { t, tx } from '../text/t.ts'
import { word } from '../text/words.ts'
import { VIEWS, type ViewOf } from '../views/views.ts'
import { Choices } from './choices.tsx'
import { Help, helpShown } from './help.tsx'
import { PeriodBar } from './period-bar.tsx'
import { Search } from './search.tsx'

const focusView = (options: FocusOptions = {}): void => document.getElementById('view')?.focus(options)

function Menu({ now }: { now: ViewOf | undefined }): VNode {
  return (
    <nav aria-label={t('Views')}>
      {VIEWS.filter((view) => view.hidden !== true || view === now).map((view) => (
        <a key={view.name} href={linkTo(view.name)} {...(view === now ? { 'aria-current': 'page' as const } : {})}>
          {view.title}
        </a>
      ))}
    </nav>
  )
}

function Unknown({ name }: { name: string }): VNode {
  return (
    <main class="view" id="view" tabIndex={-1}>
      <h1>{tx('There is no view “{name}”', { name })}</h1>
      <p>{t('The address may come from another version of the page. The menu has all views of this one.')}</p>
    </main>
  )
}

function StateOfPlumbd({ answer }: { answer: ReturnType<typeof useQuestion<StatusAnswer>> }): VNode {
  if (answer.gone) return <span class="state bad">{t('plumbd is away')}</span>
  const receiver = answer.data?.receiver
  if (receiver?.recovering !== undefined) return <span class="state warn">{t('recovering')}</span>
  if (receiver?.ready === false) return <span class="state bad">{t('takes no spans')}</span>
  if (receiver !== undefined && receiver.space.level !== 'fine')
    return <span class="state warn">{tx('space: {level}', { level: word(receiver.space.level) })}</span>
  return <></>
}

/** A reader who went to another view reads it from its top; who came by keys or listens is in it. Not of the first. */
function useBeginOfView(place: string): void {
  const last = useRef(place)
  useEffect(() => {
    if (last.current === place) return
    last.current = place
    if (!wentBack()) scrollTo(0, 0)
    if (document.activeElement === null || document.activeElement === document.body) focusView({ preventScroll: true })
  }, [place])
}

export function Frame(): VNode {
  const name = route.value.view
  useBeginOfView(`${name}/${route.value.id}`)
  const view = VIEWS.find((one) => one.name === name)
  const status = useQuestion<StatusAnswer>('status', {})
  useEffect(() => {
    if (status.data !== undefined) storeStatus.value = status.data
  }, [status.data])
  useEffect(() => {
    document.title = `${view?.title ?? name} · Plumbline`
  }, [view, name])
  return (
    <>
      <a
        class="skip"
        href="#view"
        onClick={(event) => {
          event.preventDefault()
          focusView()
        }}
      >
        {t('To the view')}
      </a>
      <header class="top">
        <a class="brand" href={linkTo(VIEWS[0]!.name)}>
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <path class="line" d="M16 2v12" />
            <path class="bob" d="M9 13h14l-2.4 8L16 30l-4.6-9z" />
          </svg>
          Plumbline
        </a>
        <Menu now={view} />
        <StateOfPlumbd answer={status} />
        <Search />
        <Choices />
      </header>
      {view?.withoutPeriod !== true && view !== undefined && <PeriodBar />}
      {view === undefined ? <Unknown name={name} /> : <view.draw key={`${name}/${route.value.id}`} />}
      {helpShown.value && <Help />}
      {live.value && (
        <span class="unseen" role="status">
          {t('Live')}
        </span>
      )}
    </>
  )
}
