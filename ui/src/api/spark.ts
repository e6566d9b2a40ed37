// The answers about Spark of docs/api.md, as far as the page reads them.

import type { Ledger } from './ledger.ts'

export interface AppAdvice {
  /** Absent where it could not be judged. */
  severity?: string
  not_judged?: string
  findings: number
  used_ns: number
  cost_ns: number
  saves_ns: number
  rule?: string
  what?: string
}

export interface AppRow {
  app: string
  id: string
  name?: string
  user?: string
  spark_version?: string
  state: string
  begin_time_ns?: bigint
  end_time_ns?: bigint
  last_event_time_ns?: bigint
  duration_ns?: number
  executors: number
  jobs: number
  stages: number
  tasks: number
  advice?: AppAdvice
}

export interface AppsAnswer {
  apps: AppRow[]
  more?: boolean
}

export interface StageRow {
  stage: number
  attempt: number
  state: string
  name?: string
  query?: number
  query_name?: string
  failure?: string
  begin_time_ns?: bigint
  duration_ns?: number
  tasks: number
  task_states: Record<string, number>
  median_ns?: number
  p95_ns?: number
  max_ns?: number
  stragglers?: number
  input_bytes?: number
  shuffle_read_bytes?: number
  shuffle_write_bytes?: number
}

export interface StagesAnswer {
  app: string
  id: string
  name?: string
  state: string
  user?: string
  spark_version?: string
  begin_time_ns?: bigint
  end_time_ns?: bigint
  last_event_time_ns?: bigint
  duration_ns?: number
  stages: StageRow[]
  more?: boolean
}

export interface JobRow {
  job: number
  state: string
  description?: string
  call_site?: string
  error?: string
  begin_time_ns?: bigint
  duration_ns?: number
  stages: number[]
  tasks: number
  failed_tasks: number
}

export interface JobsAnswer {
  app: string
  jobs: JobRow[]
  more?: boolean
}

export interface ExecutorRow {
  executor: string
  state: string
  host?: string
  cores?: number
  begin_time_ns?: bigint
  duration_ns?: number
  reason?: string
  busy_share?: number
  tasks: number
  task_states: Record<string, number>
  tasks_ns: number
  gc_ns: number
  input_bytes: number
  shuffle_read_bytes: number
  disk_spilled_bytes: number
}

/** Resources that the program gives some of its stages. */
export interface ResourceProfile {
  profile: number
  memory_bytes?: number
  cores?: number
  task_cpus?: number
  others: Record<string, string>
}

export interface ExecutorsAnswer {
  app: string
  executors: ExecutorRow[]
  exclusions?: { text: string; time_ns?: bigint }[]
  profiles?: ResourceProfile[]
  more?: boolean
}

export interface Change {
  key: string
  from: string
  to: string
  set: boolean
  conflict?: boolean
  program?: boolean
}

export interface Finding {
  rule: string
  what: string
  severity: string
  certainty: string
  node: boolean
  cost_ns: number
  saves_ns: number
  share: number
  stages: number[]
  tasks: number[]
  evidence: string[]
  changes: Change[]
  formula?: string
  advice?: string
  risk?: string
}

export interface AdviseAnswer {
  app: string
  severity: string
  tasks: number
  findings: Finding[]
  conf: { key: string; value: string }[]
  unknown: { rule: string; why: string }[]
}

export interface TaskRow {
  task: number
  stage: number
  stage_attempt: number
  partition: number
  attempt: number
  status: string
  host?: string
  executor?: string
  locality?: string
  speculative?: boolean
  begin_time_ns?: bigint
  duration_ns?: number
  times_median?: number
  trace?: string
  reason?: string
  metrics?: Record<string, number>
}

export interface TasksAnswer {
  app: string
  name?: string
  fitting_tasks: number
  tasks: TaskRow[]
  more?: boolean
}

export interface Peers {
  tasks: number
  mean: number
  median: number
}

export interface Evidence {
  feature: string
  /** Of the machine as a whole neither is told. */
  topic?: string
  unit?: string
  verdict: string
  kind?: string
  measured?: number
  value?: number
  quantile?: number
  other_hosts?: Peers
  same_host?: Peers
  before?: number
  after?: number
  /** Of pcc, mantri, xue and ledger: what it is above. */
  bound?: number
  correlation?: number
}

export interface CallOfPath {
  span: string
  function: string
  role: string
  host?: string
  duration_ns: number
}

export interface Suspect {
  host?: string
  process?: string
  role: string
  resource: string
  function?: string
  tasks?: number
  explains_ns?: number
  since_time_ns?: bigint
}

/** What a task had of HDFS, by its traces. */
export interface TaskInHdfs {
  trace?: string
  time_ns: number
  datanode_ns: number
  slowest_datanode?: string
  bytes: number
  remote_bytes: number
  local_bytes: number
  resources_ns: Record<string, number>
}

export interface Straggler {
  stage: number
  stage_attempt: number
  task: number
  host?: string
  executor?: string
  begin_time_ns?: bigint
  duration_ns: number
  scale: number
  stage_median_ns: number
  main_cause?: {
    feature: string
    topic: string
    explains_ns?: number
    excess_ns?: number
    suspect?: Suspect & { path?: CallOfPath[] }
  }
  causes: Evidence[]
  near: Evidence[]
  ledger?: Ledger
  hdfs?: TaskInHdfs
}

/** By a method and thresholds of one's own. */
export interface StragglersAnswer {
  app: string
  options: { method: string; [name: string]: unknown }
  stragglers_total: number
  unexplained: number
  causes_total: { feature: string; stragglers: number }[]
  stragglers: Straggler[]
  more?: boolean
}

export interface WhyAnswer {
  app: string
  name?: string
  tasks: number
  stragglers_total: number
  explained: number
  suspects: Suspect[]
  stragglers: Straggler[]
  more?: boolean
}
