// A trace as trace events, for ui.perfetto.dev and chrome://tracing: a process for each, a track for each line.

import type { VNode } from 'preact'
import { save } from '../../parts/export.tsx'
import { t } from '../../text/t.ts'
import { functionOf, spanId, type Trace } from './model.ts'

/** Of more, `plumb trace ID --chrome` writes them. */
const MOST_ROWS = 500_000
const NAME = 'Perfetto'
const ROWS_PER_PIECE = 5000
const NS_PER_US = 1000

function processEvents(trace: Trace): string[] {
  return trace.head.processes.map(({ process, host, pid }, i) => {
    const name = `${process} ${host ?? ''} ${pid ?? ''}`.trim()
    return JSON.stringify({ ph: 'M', name: 'process_name', pid: i + 1, args: { name } })
  })
}

function callEvent(trace: Trace, row: number): string {
  const { calls, lines } = trace
  return JSON.stringify({
    ph: 'X',
    name: functionOf(trace, row),
    ts: calls.begin[row]! / NS_PER_US,
    dur: Math.max(calls.duration[row]!, 0) / NS_PER_US,
    pid: calls.process[row]! + 1,
    tid: lines.line[row]! + 1,
    args: { span: spanId(trace, row) },
  })
}

/** In pieces: one text of all calls would be larger than browsers allow. */
function traceEvents(trace: Trace): string[] {
  const pieces = ['[', processEvents(trace).join(',\n')]
  for (let first = 0; first < trace.rows; first += ROWS_PER_PIECE) {
    const rows = Array.from({ length: Math.min(ROWS_PER_PIECE, trace.rows - first) }, (_, i) => first + i)
    pieces.push(',\n', rows.map((row) => callEvent(trace, row)).join(',\n'))
  }
  return [...pieces, ']\n']
}

export function Perfetto({ trace }: { trace: Trace }): VNode {
  const many = trace.rows > MOST_ROWS
  return (
    <button
      type="button"
      class="small quiet"
      disabled={many}
      title={
        many
          ? t('Of so many calls, plumb trace {id} --chrome writes them', { id: trace.head.trace })
          : t('Save as trace events for ui.perfetto.dev')
      }
      onClick={() => save(new Blob(traceEvents(trace), { type: 'application/json' }), `${trace.head.trace}.json`)}
    >
      {NAME}
    </button>
  )
}
