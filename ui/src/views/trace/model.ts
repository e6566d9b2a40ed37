// A trace as the view has it: its columns, laid out.

import { askColumns, type Column, type ColumnsHead } from '../../api/columns.ts'
import type { Span } from '../../api/answers.ts'
import { t } from '../../text/t.ts'
import type { Calls } from '../../timeline/calls.ts'
import type { Aligned } from '../../timeline/clocks.ts'
import type { Laid, LaidLines, ToLay } from '../../timeline/layout.ts'
import workerAddress from '../../timeline/worker.ts?worker&url'

export interface Process {
  readonly process: string
  readonly role: string
  readonly host?: string
  readonly pid?: number
}

export interface TraceHead extends ColumnsHead {
  readonly trace: string
  readonly spans_total: number
  readonly parts?: number
  readonly first_part?: number
  readonly parts_shown?: number
  readonly waiting?: boolean
  readonly begin_time_ns: bigint
  readonly duration_ns: number
  readonly orphans: number
  readonly missing: number
  readonly incomplete: boolean
  readonly dropped?: readonly string[]
  readonly functions: readonly string[]
  readonly processes: readonly Process[]
  readonly tasks?: readonly { app: string; task: number; link: string; confidence: number }[]
}

/** All that is stored of one span. */
export interface SpanAnswer {
  readonly row: Omit<Span, 'depth' | 'self_ns' | 'critical_ns' | 'flags'>
}

export interface Trace extends Laid {
  readonly head: TraceHead
  readonly rows: number
  readonly function: Column
  readonly flags: Column
  readonly idHigh: Column
  readonly idLow: Column
  /** Where clocks are aligned, as of Aligned. */
  readonly moved?: Float64Array
  readonly first?: number
  readonly length?: number
}

/** What was written down in a call, and when: in nanoseconds from the begin of the trace. */
export interface Note {
  readonly at: number
  readonly message: string
}

export function notesOf(trace: Trace, row: number, span: SpanAnswer['row'] | undefined): Note[] {
  if (span === undefined || span.span !== spanId(trace, row)) return []
  return (span.notes ?? []).map(({ time_ns: time, message }) => ({
    at: trace.calls.begin[row]! + Number(BigInt(time) - span.begin_time_ns),
    message,
  }))
}

/** When a call began by its host's own clock. */
export const recordedBegin = (trace: Trace, row: number): number =>
  trace.calls.begin[row]! - (trace.moved?.[trace.calls.process[row]!] ?? 0) + (trace.first ?? 0)

export const COLUMNS = 'begin,duration,parent,function,process,flags,id_high,id_low'

const FLAGS = [t('orphan'), t('cycle'), t('reversed'), t('outside parent')] as const
const MILLISECONDS = 16
const NOTES = 32
const NS_PER_MS = 1_000_000

export const functionOf = (trace: Trace, row: number): string => trace.head.functions[trace.function[row]!] ?? ''
export const processOf = (trace: Trace, row: number): Process => trace.head.processes[trace.calls.process[row]!]!
export const resolutionOf = (trace: Trace, row: number): number => (trace.flags[row]! & MILLISECONDS ? NS_PER_MS : 1)
export const hasNotes = (trace: Trace, row: number): boolean => (trace.flags[row]! & NOTES) !== 0
export const flagsOf = (trace: Trace, row: number): string[] =>
  FLAGS.filter((_, bit) => (trace.flags[row]! & (1 << bit)) !== 0)

const hex = (half: number): string => half.toString(16).padStart(8, '0')
export const spanId = (trace: Trace, row: number): string =>
  trace.head.trace + hex(trace.idHigh[row]!) + hex(trace.idLow[row]!)

/** The row of a span's id of 32 digits; -1: it is not among these. */
export function rowOf(trace: Trace, id: string): number {
  if (!/^[0-9a-f]{32}$/.test(id)) return -1
  const [high, low] = [parseInt(id.slice(16, 24), 16), parseInt(id.slice(24), 16)]
  for (let row = 0; row < trace.rows; row++) if (trace.idLow[row] === low && trace.idHigh[row] === high) return row
  return -1
}

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

/** In a thread of its own, which ends with it. */
function layAside<T>(toLay: ToLay, buffers: ArrayBuffer[], signal: AbortSignal): Promise<T> {
  const worker = new Worker(policy?.createScriptURL('') ?? workerAddress)
  return new Promise<T>((resolve, reject) => {
    const end = (): void => worker.terminate()
    signal.addEventListener('abort', () => {
      end()
      reject(new Error('nobody waits for it any more'))
    })
    worker.onmessage = (event: MessageEvent<T>) => {
      end()
      resolve(event.data)
    }
    worker.onerror = (event) => {
      end()
      reject(new Error(t('the trace could not be laid out: {message}', { message: event.message })))
    }
    worker.postMessage(toLay, buffers)
  })
}

/** A copy, so that what goes to the other thread takes nothing with it. */
function copied(column: Column | undefined): Column {
  if (column === undefined) throw new Error(t('the answer lacks a column'))
  return column.slice()
}

export async function askTrace(path: string, signal: AbortSignal): Promise<Trace> {
  const { head, column } = await askColumns<TraceHead>(path, signal)
  const calls: Calls = {
    rows: head.rows,
    begin: copied(column('begin')) as Float64Array,
    duration: copied(column('duration')) as Float64Array,
    parent: copied(column('parent')) as Int32Array,
    process: copied(column('process')) as Uint16Array | Uint32Array,
  }
  const kept = {
    function: copied(column('function')),
    flags: copied(column('flags')),
    idHigh: copied(column('id_high')),
    idLow: copied(column('id_low')),
  }
  const buffers = [calls.begin, calls.duration, calls.parent, calls.process].map((one) => one.buffer as ArrayBuffer)
  const laid = await layAside<Laid>({ calls }, buffers, signal)
  return { ...laid, ...kept, head, rows: head.rows }
}

/** The lines of what is not hidden. The calls stay here: the other thread gets a copy. */
export const layHidden = (trace: Trace, hidden: Uint8Array, signal: AbortSignal): Promise<LaidLines> =>
  layAside<LaidLines>({ calls: trace.calls, hidden }, [], signal)

/** At the times of one clock. What calls had of their own stays: nothing that is stored is corrected. */
export async function layAligned(trace: Trace, { calls, ...aligned }: Aligned, signal: AbortSignal): Promise<Trace> {
  const laid = await layAside<Laid>({ calls }, [], signal)
  return { ...trace, ...laid, tree: trace.tree, ...aligned }
}

/** The share of each call for which the root waited, in nanoseconds. */
export interface Critical {
  readonly rows: number
  readonly critical: Column
}

export async function askCritical(path: string, signal: AbortSignal): Promise<Critical> {
  const { head, column } = await askColumns<TraceHead>(path, signal)
  return { rows: head.rows, critical: copied(column('critical')) }
}

/** Calls that have what is looked for. */
export interface FindAnswer {
  readonly rows: readonly number[]
  readonly found: number
  readonly more?: boolean
}
