// Answers in columns (docs/api.md, "trace/columns"): a JSON head, then arrays of numbers that are read where they lie.

import { askWhole } from './ask.ts'
import { parseExact } from './json.ts'

export type Column = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array

export interface ColumnsHead {
  readonly rows: number
  readonly columns: readonly { readonly name: string; readonly type: string; readonly offset: number }[]
}

export interface Columns<Head extends ColumnsHead> {
  readonly head: Head
  readonly buffer: ArrayBuffer
  /** undefined: it is not there. */
  readonly column: (name: string) => Column | undefined
}

const MAGIC = 'PLUMBCO1'
const BEFORE_HEAD = MAGIC.length + 4
interface Type {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBuffer, offset: number, length: number): Column
}

const TYPES: Readonly<Record<string, Type>> = {
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
  u16: Uint16Array,
  u8: Uint8Array,
}

export function parseColumns<Head extends ColumnsHead>(buffer: ArrayBuffer): Columns<Head> {
  const text = new TextDecoder()
  const length = buffer.byteLength < BEFORE_HEAD ? 0 : new DataView(buffer).getUint32(MAGIC.length, true)
  if (length === 0 || text.decode(new Uint8Array(buffer, 0, MAGIC.length)) !== MAGIC)
    throw new Error('the answer is not in columns')
  const head = parseExact(text.decode(new Uint8Array(buffer, BEFORE_HEAD, length))) as Head
  const end = ({ type, offset }: ColumnsHead['columns'][number]): number =>
    offset + head.rows * (TYPES[type]?.BYTES_PER_ELEMENT ?? 0)
  if (head.columns.some((one) => end(one) > buffer.byteLength)) throw new Error('the columns end behind the answer')
  const column = (name: string): Column | undefined => {
    const found = head.columns.find((one) => one.name === name)
    const make = found && TYPES[found.type]
    return make && new make(buffer, found.offset, head.rows)
  }
  return { head, buffer, column }
}

export const askColumns = <Head extends ColumnsHead>(path: string, signal: AbortSignal): Promise<Columns<Head>> =>
  askWhole(path, signal, async (response) => parseColumns<Head>(await response.arrayBuffer()))
