import { afterEach, describe, expect, it, vi } from 'vitest'
import { Gone } from './ask.ts'
import { askColumns, parseColumns } from './columns.ts'

function answer(head: object, bytes: Uint8Array): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head))
  const at = Math.ceil((12 + text.length) / 8) * 8
  const whole = new Uint8Array(at + bytes.length)
  whole.set(new TextEncoder().encode('PLUMBCO1'))
  new DataView(whole.buffer).setUint32(8, text.length, true)
  whole.set(text, 12)
  whole.set(bytes, at)
  return whole.buffer
}

function twoValues(): ArrayBuffer {
  const head = { rows: 2, begin_time_ns: 7, columns: [{ name: 'begin', type: 'f64', offset: 0 }] }
  const text = new TextEncoder().encode(JSON.stringify(head)).length
  head.columns[0]!.offset = Math.ceil((12 + text + 2) / 8) * 8
  return answer(head, new Uint8Array(new Float64Array([1.5, -2]).buffer))
}

afterEach(() => vi.unstubAllGlobals())

describe('columns', () => {
  it('are read where they lie', () => {
    const columns = parseColumns(twoValues())
    expect(columns.column('begin')).toEqual(new Float64Array([1.5, -2]))
    expect(columns.column('end')).toBeUndefined()
    expect((columns.head as unknown as { begin_time_ns: bigint }).begin_time_ns).toBe(7n)
  })
  it('are told from anything else', () => {
    expect(() => parseColumns(new TextEncoder().encode('{"error": "busy, ask again"}').buffer)).toThrow('columns')
    expect(() => parseColumns(new ArrayBuffer(3))).toThrow('columns')
  })
  it('that are cut off are asked for again', async () => {
    const whole = twoValues()
    for (const bytes of [3, 20, whole.byteLength - 1]) {
      vi.stubGlobal('fetch', () => Promise.resolve(new Response(whole.slice(0, bytes))))
      await expect(askColumns('api/v1/series/columns', new AbortController().signal)).rejects.toThrow(Gone)
    }
  })
})
