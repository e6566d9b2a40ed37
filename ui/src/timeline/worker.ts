// The thread that lays a trace out, so that the page goes on meanwhile.

import { buffersOf, lay, layAligned, layFolded, type Kept, type Laid, type LaidLines, type ToLay } from './layout.ts'

interface Thread {
  onmessage: ((event: MessageEvent<ToLay>) => void) | null
  postMessage: (message: unknown, transfer: Transferable[]) => void
}

const thread = globalThis as unknown as Thread
let kept: Partial<Kept> = {}

const answer = (laid: Laid | LaidLines): void => thread.postMessage(laid, buffersOf(laid))

thread.onmessage = ({ data }) => {
  if ('piece' in data) kept = { ...kept, ...data.piece }
  else if ('named' in data) answer(layFolded(kept as Kept, data.named, data.leftOut))
  else if ('moved' in data) answer(layAligned(kept as Kept, data.moved))
  else answer(lay(data.calls))
}
