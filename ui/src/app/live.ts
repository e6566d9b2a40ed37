// Live: asks again every 15 s, while the page is seen and the period ends now.

import { effect, signal } from '@preact/signals'
import { askAgain } from './question.ts'

const EVERY_MS = 15_000

export const live = signal(false)

effect(() => {
  if (!live.value) return
  const timer = setInterval(() => {
    if (!document.hidden) askAgain()
  }, EVERY_MS)
  return () => clearInterval(timer)
})
