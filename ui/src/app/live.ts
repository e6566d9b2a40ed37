// Live: asks again when plumbd tells that something changed, every 15 s at most, while the page is seen and the period
// ends now. Where nothing can be told (a gateway that keeps answers back), it asks every 15 s.

import { effect, signal } from '@preact/signals'
import { askWhileLive } from './question.ts'

const EVERY_MS = 15_000
/** A relative period goes on where nothing changes, too. */
const AT_LEAST_MS = 60_000
const TOPICS = ['status', 'stragglers']

export const live = signal(false)

/** Only of a page that is seen: a browser has six connections to one server, for all its tabs. */
class Told {
  private source: EventSource | undefined
  changed = false

  follow(): void {
    if (document.hidden) {
      this.end()
      return
    }
    if (this.source !== undefined) return
    this.source = new EventSource(`api/v1/events?topics=${TOPICS.join()}`)
    for (const topic of TOPICS) this.source.addEventListener(topic, () => (this.changed = true))
  }

  isQuiet(): boolean {
    return this.source?.readyState === EventSource.OPEN && !this.changed
  }

  end(): void {
    this.source?.close()
    this.source = undefined
  }
}

effect(() => {
  if (!live.value) return
  const told = new Told()
  let askedAt = performance.now()
  const follow = (): void => told.follow()
  const timer = setInterval(() => {
    if (document.hidden || (told.isQuiet() && performance.now() - askedAt < AT_LEAST_MS)) return
    askedAt = performance.now()
    told.changed = false
    askWhileLive()
  }, EVERY_MS)
  document.addEventListener('visibilitychange', follow)
  follow()
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', follow)
    told.end()
  }
})
