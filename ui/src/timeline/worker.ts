// The thread that lays a trace out, so that the page goes on meanwhile.

import type { Calls } from './calls.ts'
import { buffersOf, lay, layFolded, type Laid, type LaidLines, type ToLay } from './layout.ts'

interface Thread {
  onmessage: ((event: MessageEvent<ToLay>) => void) | null
  postMessage: (message: unknown, transfer: Transferable[]) => void
}

const thread = globalThis as unknown as Thread
let kept: Partial<Calls> = {}

const answer = (laid: Laid | LaidLines): void => thread.postMessage(laid, buffersOf(laid))

thread.onmessage = ({ data }) => {
  if ('piece' in data) kept = { ...kept, ...data.piece }
  else if ('hidden' in data) answer(layFolded(kept as Calls, data.hidden))
  else answer(lay(data.calls))
}
