// The thread that lays a trace out, so that the page goes on meanwhile. One message in, one out.

import type { Calls } from './calls.ts'
import { buffersOf, lay } from './layout.ts'

interface Thread {
  onmessage: ((event: MessageEvent<Calls>) => void) | null
  postMessage: (message: unknown, transfer: Transferable[]) => void
}

const thread = globalThis as unknown as Thread
thread.onmessage = (event) => {
  const laid = lay(event.data)
  thread.postMessage(laid, buffersOf(laid))
}
