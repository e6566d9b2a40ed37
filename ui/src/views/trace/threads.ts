// The threads in which a trace is laid out.

import { t } from '../../text/t.ts'
import type { Calls } from '../../timeline/calls.ts'
import type { Laid, LaidLines, ToLay } from '../../timeline/layout.ts'
import workerAddress from '../../timeline/worker.ts?worker&url'

interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: (address: string) => string },
  ) => {
    createScriptURL: (address: string) => string
  }
}
const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
/** The only script that the page starts by its address: its own. */
const policy = trusted?.createPolicy('worker', { createScriptURL: () => workerAddress })

const begin = (): Worker => new Worker(policy?.createScriptURL('') ?? workerAddress)

function answerOf<T>(worker: Worker, toLay: ToLay, buffers: ArrayBuffer[] = []): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<T>) => resolve(event.data)
    worker.onerror = (event) =>
      reject(new Error(t('the trace could not be laid out: {message}', { message: event.message })))
    worker.postMessage(toLay, buffers)
  })
}

const unwanted = (): Error => new Error('nobody waits for it any more')

function checkWanted(signal: AbortSignal): void {
  if (signal.aborted) throw unwanted()
}

/** In a thread of its own, which ends with it. buffers: what of the calls is handed over instead of being copied. */
export function layAside(calls: Calls, buffers: ArrayBuffer[], signal: AbortSignal): Promise<Laid> {
  const worker = begin()
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(unwanted())))
  return Promise.race([answerOf<Laid>(worker, { calls }, buffers), aborted]).finally(() => worker.terminate())
}

/** So that keys are heard and frames are drawn meanwhile. */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** Lays the lines of one trace out anew when calls are folded. Its thread keeps a copy of the calls: it gets it when it is
    first asked, piece by piece, since all at once would hold a frame up. One answer is made at a time; of those that wait
    meanwhile only the last one is still wanted. */
export class LineThread {
  private worker: Promise<Worker> | undefined
  private last: Promise<unknown> = Promise.resolve()

  constructor(private readonly calls: Calls) {}

  /** hidden: 1 for each call that has no line. */
  lay(hidden: Uint8Array, signal: AbortSignal): Promise<LaidLines> {
    const laid = this.last.then(async () => {
      checkWanted(signal)
      const lines = await this.ask(hidden)
      checkWanted(signal)
      return lines
    })
    this.last = laid.catch(() => undefined)
    return laid
  }

  end(): void {
    void this.worker?.then((worker) => worker.terminate())
    this.worker = undefined
  }

  private async ask(hidden: Uint8Array): Promise<LaidLines> {
    try {
      return await answerOf<LaidLines>(await (this.worker ??= this.begin()), { hidden })
    } catch (error) {
      this.end() // the next one begins anew
      throw error
    }
  }

  private async begin(): Promise<Worker> {
    const worker = begin()
    const { rows, begin: begins, duration, parent, process } = this.calls
    for (const piece of [{ rows }, { begin: begins }, { duration }, { parent }, { process }]) {
      worker.postMessage({ piece } satisfies ToLay)
      await nextTask()
    }
    return worker
  }
}
