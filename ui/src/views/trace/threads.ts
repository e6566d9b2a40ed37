// The threads in which a trace is laid out.

import { t } from '../../text/t.ts'
import type { Calls } from '../../timeline/calls.ts'
import type { Named } from '../../timeline/folds.ts'
import type { Kept, Laid, LaidAligned, LaidFolded, ToLay } from '../../timeline/layout.ts'
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

/** The only answer of a thread, which ends with it. */
function lastAnswerOf<T>(worker: Worker, toLay: ToLay, buffers: ArrayBuffer[], signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const end = (): void => reject(unwanted())
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
  })
  return Promise.race([answerOf<T>(worker, toLay, buffers), aborted]).finally(() => worker.terminate())
}

/** Calls are handed over instead of being copied. */
export function layAside(calls: Calls, signal: AbortSignal): Promise<Laid> {
  const buffers = [calls.begin, calls.duration, calls.parent, calls.process].map((one) => one.buffer as ArrayBuffer)
  return lastAnswerOf<Laid>(begin(), { calls }, buffers, signal)
}

/** So that keys are heard and frames are drawn meanwhile. */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** With a copy: piece by piece, since all at once would hold a frame up. */
async function beginWith(kept: Partial<Kept>): Promise<Worker> {
  const worker = begin()
  for (const [name, value] of Object.entries(kept)) {
    worker.postMessage({ piece: { [name]: value } } satisfies ToLay)
    await nextTask()
  }
  return worker
}

/** moved: as of alignCalls(). */
export async function layAlignedAside(calls: Calls, moved: Float64Array, signal: AbortSignal): Promise<LaidAligned> {
  const worker = await beginWith(calls)
  return lastAnswerOf<LaidAligned>(worker, { moved }, [], signal)
}

/** Lays the lines of one trace out anew when calls are folded. Its thread keeps a copy of the trace, which it gets when it
    is first asked. One answer is made at a time; of those that wait meanwhile only the last one is still wanted. */
export class LineThread {
  private worker: Promise<Worker> | undefined
  private last: Promise<unknown> = Promise.resolve()

  constructor(private readonly kept: Kept) {}

  lay(named: Named, leftOut: Uint8Array | undefined, signal: AbortSignal): Promise<LaidFolded> {
    const laid = this.last.then(async () => {
      checkWanted(signal)
      const lines = await this.ask({ named, leftOut })
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

  private async ask(toLay: ToLay): Promise<LaidFolded> {
    try {
      return await answerOf<LaidFolded>(await (this.worker ??= beginWith(this.kept)), toLay)
    } catch (error) {
      this.end() // the next one begins anew
      throw error
    }
  }
}
