// The thread that lays a trace out, so that the page goes on meanwhile. One message in, one out.

import { buffersOf, lay, layFolded, type ToLay } from './layout.ts'

interface Thread {
  onmessage: ((event: MessageEvent<ToLay>) => void) | null
  postMessage: (message: unknown, transfer: Transferable[]) => void
}

const thread = globalThis as unknown as Thread
thread.onmessage = (event) => {
  const { calls, hidden } = event.data
  const laid = hidden === undefined ? lay(calls) : layFolded(calls, hidden)
  thread.postMessage(laid, buffersOf(laid))
}
