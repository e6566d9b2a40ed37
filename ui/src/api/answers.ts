// The answers of docs/api.md, as far as the page reads them.

export interface BytesMeasure {
  calls: number
  total_bytes: number
  mean_bytes: number
  min_bytes?: number
  max_bytes?: number
  q25_bytes?: number
  q50_bytes?: number
  q75_bytes?: number
  q95_bytes?: number
  q99_bytes?: number
  zero_calls?: number
  small_calls?: number
}

export interface RateMeasure {
  calls: number
  mean_bytes_per_s: number
  min_bytes_per_s: number
  max_bytes_per_s: number
  q25_bytes_per_s: number
  q50_bytes_per_s: number
  q75_bytes_per_s: number
  q95_bytes_per_s: number
}

export interface Measure {
  calls: number
  mean_ns: number
  std_ns: number
  min_ns?: number
  max_ns?: number
  q25_ns?: number
  q50_ns?: number
  q75_ns?: number
  q95_ns?: number
  q99_ns?: number
  total_ns: number
  self_ns: number
  critical_ns: number
  resolution_ns: number
  exact_quantiles?: boolean
  bytes?: BytesMeasure
  rate?: RateMeasure
  reversed_calls?: number
  outside_parent_calls?: number
  orphan_calls?: number
}

export interface Period {
  since_time_ns?: bigint
  until_time_ns?: bigint
}

export interface FunctionRow extends Measure {
  function: string
  role: string
  host?: string
}

export interface FunctionsAnswer extends Period {
  functions: FunctionRow[]
  more?: boolean
}

export interface PatternNode extends Measure {
  depth: number
  function: string
  role: string
  hosts: string[]
}

export interface Pattern {
  pattern: string
  mixed?: boolean
  merged?: number
  trace?: string
  traces: number
  stored_traces?: number
  spans: number
  incomplete: boolean
  total_ns: number
  critical_ns: number
  first_example?: string
  nodes: PatternNode[]
}

export interface Amount {
  patterns: number
  traces: number
  spans: number
  total_ns: number
}

export interface ForestAnswer extends Period {
  traces: number
  spans: number
  patterns_total?: number
  rare?: Amount
  rest?: Amount
  patterns: Pattern[]
  more?: boolean
}

export interface Account {
  [name: string]: number | boolean
}

export interface SenderRow {
  sender: string
  spans_sent: number
  spans_queued: number
  last_seen_time_ns: bigint
  repeated_batches: number
  drops: Record<string, number>
}

export interface ReceiverStatus {
  uptime_ns: number
  ready: boolean
  reason?: string
  recovering?: number
  names: { entries: number; limit: number; full: number; folded: number; refused: number }
  connections: number
  refused_connections: Record<string, number>
  spans_received: number
  spans_per_s: number
  batches: number
  bytes_received: number
  try_later: number
  rejected_http: Record<string, number>
  refused: Record<string, number>
  rejected_frames: Record<string, number>
  open_traces: number
  open_spans: number
  open_bytes: number
  queued_bytes: number
  journal_bytes: number
  lag_ns: number
  closed_early: number
  recovered_spans: number
  journal_damages: number
  spans_set_aside: number
  cpu_ns: number
  rss_bytes: number
  sampling: string
  space: { level: string; free_bytes: number; thinned_to_traces?: number }
  accounting: Account
  senders: SenderRow[]
}

export interface StatusAnswer {
  version: string
  store: {
    traces: number
    spans: number
    incomplete_traces: number
    patterns: number
    functions: number
    hosts: number
    disk_bytes: number
    free_bytes: number
    bytes_per_span: number
    first_time_ns?: bigint
    last_time_ns?: bigint
    duplicates: number
    late_spans: number
    late_spans_waiting: number
    records?: Record<string, number>
  }
  receiver?: ReceiverStatus
}

export interface TraceRow {
  trace: string
  root: string
  role: string
  host?: string
  begin_time_ns: bigint
  duration_ns: number
  spans: number
  orphans: number
  incomplete: boolean
  in_parts?: boolean
  pattern?: string
  rare?: boolean
}

export interface NamesAnswer {
  names_total: number
  more?: boolean
  names: { name: string; role?: string; calls?: number; traces?: number }[]
}

export interface TracesAnswer {
  scanned: number
  more: boolean
  /** With more: what the page behind this one is asked with, as "after". */
  next?: string
  /** With summary: of all that match. */
  counts?: Period & {
    traces: number
    step_ns?: number
    edges: number[]
    columns: { begin_time_ns: bigint; traces: number; at: number[]; counts: number[] }[]
  }
  traces: TraceRow[]
}

export interface ContrastAnswer {
  a_traces: number
  b_traces: number
  more?: boolean
  rows: {
    kind: 'function' | 'host' | 'annotation'
    key?: string
    value: string
    a_traces: number
    b_traces: number
    a_share: number
    b_share: number
  }[]
}

export interface Span {
  span: string
  parents: string[]
  depth: number
  function: string
  description: string
  role: string
  process: string
  host?: string
  begin_time_ns: bigint
  duration_ns: number
  self_ns: number
  critical_ns: number
  resolution_ns: number
  annotations?: Record<string, string | string[]>
  notes?: { time_ns: bigint | number; message: string }[]
  flags?: string[]
}

export interface TraceAnswer {
  trace: string
  pattern?: string
  begin_time_ns: bigint
  duration_ns: number
  spans_total: number
  orphans: number
  incomplete: boolean
  parts?: number
  first_part?: number
  parts_shown?: number
  dropped?: string[]
  tasks?: { app: string; task: number; link: string; confidence: number }[]
  spans: Span[]
  missing?: { span: string; depth: number; children: number; at: number }[]
  more?: boolean
  skew?: { from: string; to: string; offset_ns: number; uncertainty_ns: number; samples: number }[]
}

export interface SeriesRow<List = number[]> {
  function: string
  role: string
  host?: string
  ratio?: number
  at: List
  values: List
  calls: List
}

export interface SeriesAnswer<List = number[]> extends Period {
  step_ns?: number
  field: string
  series: SeriesRow<List>[]
  more?: boolean
  peers?: { function: string; role: string; at: number[]; medians: number[]; hosts: number[] }[]
}

export interface DistributionAnswer extends Period {
  step_ns?: number
  of: 'duration' | 'bytes' | 'rate'
  edges: number[]
  columns: { begin_time_ns: bigint; calls: number; at: number[]; counts: number[] }[]
}
