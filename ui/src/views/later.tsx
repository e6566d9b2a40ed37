// Views that come as a file of their own, so that the first view waits for less.

import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { asked, askedByReader, useWaiting } from '../app/question.ts'
import { storeStatus } from '../app/store.ts'
import { Skeleton } from '../parts/states.tsx'
import { t } from '../text/t.ts'

type Draw = () => VNode

function NotCome(): VNode {
  return (
    <div class="notice bad" role="alert">
      <p>{t('This view did not come: plumbd is away, or is another version by now.')}</p>
      <button type="button" onClick={() => location.reload()}>
        {t('Load the page again')}
      </button>
    </div>
  )
}

function Waiting(): VNode {
  useWaiting(true)
  return <Skeleton lines={14} />
}

export interface Later<Module> {
  /** The view that 'pick' takes of it. */
  readonly view: (pick: (module: Module) => Draw) => Draw
  /** Before anybody goes to one. */
  readonly load: () => void
}

/** load: imports the file. */
export function later<Module>(load: () => Promise<Module>): Later<Module> {
  let come: Module | undefined
  let coming: Promise<void> | undefined
  const begin = (): Promise<void> =>
    (coming ??= load().then(
      (module) => void (come = module),
      (error: unknown) => {
        coming = undefined
        throw error
      },
    ))
  const view = (pick: (module: Module) => Draw): Draw =>
    function LaterView(): VNode {
      const [state, setState] = useState<'waits' | 'failed' | 'come'>(come === undefined ? 'waits' : 'come')
      // Anew when all is asked again, and when plumbd answers again.
      const again = come === undefined ? [asked.value, storeStatus.value] : [0, undefined]
      useEffect(() => {
        begin().then(
          () => setState('come'),
          () => setState('failed'),
        )
      }, again)
      // Many browsers ask for such a file only once in a page's life. While plumbd is away the page must stay.
      useEffect(() => {
        if (state !== 'failed') return
        fetch('.', { method: 'HEAD' }).then(
          () => location.reload(),
          () => undefined,
        )
      }, [askedByReader.value])
      if (come !== undefined) {
        const Come = pick(come)
        return <Come />
      }
      return (
        <main class="view" id="view" tabIndex={-1}>
          {state === 'failed' ? <NotCome /> : <Waiting />}
        </main>
      )
    }
  return { view, load: () => void begin().catch(() => undefined) }
}
