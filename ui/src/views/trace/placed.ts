// Spans with their times from the begin of the trace, as numbers.

import type { Span, TraceAnswer } from '../../api/answers.ts'

export interface Placed {
  readonly span: Span
  readonly depth: number
  readonly begin: number
  readonly duration: number
}

export function placeSpans(answer: TraceAnswer): Placed[] {
  return answer.spans.map((span) => ({
    span,
    depth: span.depth,
    begin: Number(span.begin_time_ns - answer.begin_time_ns),
    duration: span.duration_ns,
  }))
}

/** What a reader may look for: names, places, values. */
export function textOf(span: Span): string {
  const values = Object.entries(span.annotations ?? {}).map(([key, value]) => `${key}=${String(value)}`)
  return [span.function, span.description, span.host ?? '', span.process, ...values].join('\n').toLowerCase()
}
