// A trace as the view has it: its columns, laid out.

import { askColumns, type Column, type ColumnsHead } from '../../api/columns.ts'
import type { Span } from '../../api/answers.ts'
import { t } from '../../text/t.ts'
import { placeOf, type Calls } from '../../timeline/calls.ts'
import type { Laid } from '../../timeline/layout.ts'
import { layAlignedAside, layAside } from './threads.ts'

export interface Process {
  readonly process: string
  readonly role: string
  readonly host?: string
  readonly pid?: number
}

/** Which spans the rows of an answer are numbers of. */
interface RowsOf {
  readonly trace: string
  readonly spans_total: number
  readonly first_part?: number
  readonly parts_shown?: number
}

/** Answers come one by one: of the trace before, or of one that grew meanwhile, rows are other calls. */
export const areSameRows = (a: RowsOf, b: RowsOf): boolean =>
  a.trace === b.trace &&
  a.spans_total === b.spans_total &&
  a.first_part === b.first_part &&
  a.parts_shown === b.parts_shown

export interface TraceHead extends ColumnsHead, RowsOf {
  readonly parts?: number
  readonly waiting?: boolean
  readonly begin_time_ns: bigint
  readonly duration_ns: number
  readonly orphans: number
  readonly missing: number
  readonly incomplete: boolean
  readonly dropped?: readonly string[]
  readonly pattern?: string
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
  /** Where clocks are aligned: of each process what was added to its times, and as of Aligned. */
  readonly moved?: Float64Array
  readonly order?: Uint32Array
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

/** When the notes of all calls were written, by rows: some 12 bytes each, what they say comes with the call that is chosen. */
export interface NoteTimes {
  readonly of: RowsOf
  readonly rows: Uint32Array
  /** Nanoseconds from the begin of the call. */
  readonly after: Float64Array
  /** There are more than these. */
  readonly more: boolean
}

export async function askNotes(path: string, signal: AbortSignal): Promise<NoteTimes> {
  const { head, column } = await askColumns<ColumnsHead & RowsOf & { more?: boolean }>(path, signal)
  return {
    of: head,
    rows: copied(column('row')) as Uint32Array,
    after: copied(column('after')) as Float64Array,
    more: head.more === true,
  }
}

/** The notes of a call whose times are known: [first, behind the last). */
export function placesOf({ rows }: NoteTimes, row: number): readonly [number, number] {
  return [placeOf(rows, row), placeOf(rows, row + 1)]
}

export function hasAnyNotes({ flags, rows }: Trace): boolean {
  for (let row = 0; row < rows; row++) if ((flags[row]! & NOTES) !== 0) return true
  return false
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
  const laid = await layAside(calls, signal)
  return { ...laid, ...kept, head, rows: head.rows }
}

/** At the times of one clock. What calls had of their own stays: nothing that is stored is corrected. */
export async function askAligned(trace: Trace, moved: Float64Array, signal: AbortSignal): Promise<Trace> {
  const laid = await layAlignedAside(trace.calls, moved, signal)
  const calls = { ...trace.calls, begin: laid.calls.begin }
  return { ...trace, ...laid, calls, tree: trace.tree, moved }
}

/** The share of each call for which the root waited, in nanoseconds. */
export interface Critical {
  readonly of: RowsOf
  readonly rows: number
  readonly critical: Column
}

export async function askCritical(path: string, signal: AbortSignal): Promise<Critical> {
  const { head, column } = await askColumns<TraceHead>(path, signal)
  return { of: head, rows: head.rows, critical: copied(column('critical')) }
}

/** Calls that have what is looked for. */
export interface FindAnswer extends RowsOf {
  readonly rows: readonly number[]
  readonly found: number
  readonly more?: boolean
}
