// The answers about operations of Spark of docs/api.md, as far as the page reads them.

export interface OperationName {
  rdd?: number
  class?: string
  rdd_name?: string
  call_site?: string
}

export interface OperationRow extends OperationName {
  instances: number
  mean_ms: number
  std_ms: number
  median_ms: number
  min_ms?: number
  max_ms?: number
  share: number
  cv: number
  variance_share: number
  top_instances: number
}

export interface TopInstance extends OperationName {
  task: number
  partition: number
  host: string
  span_ms: number
  pf_ms: number
  ss: number
  is_ms2: number
  records?: number
  trees?: { trace: string; link: string; span?: string; confidence?: number }[]
}

export interface StageOperations {
  stage: number
  stage_attempt: number
  pipelines: number
  instances: number
  source: string
  tasks_not_read?: number
  coverage?: number
  low_coverage_tasks?: number
  pattern: string
  meaning: string
  operations: OperationRow[]
  top_instances: number
  top: TopInstance[]
  more?: boolean
  clusters?: {
    centres: { instances: number; centre: Record<string, number> }[]
    others?: Record<string, number>
    apart?: Record<string, number>
    apart_p?: Record<string, number>
  }
}

export interface OperationsAnswer {
  app: string
  name?: string
  top_share: number
  stages: StageOperations[]
}

export interface PipelinesAnswer {
  app: string
  stage: number
  stage_attempt: number
  pipelines_total: number
  operations: OperationName[]
  pipelines: {
    task: number
    partition: number
    host: string
    duration_ms: number
    operations_ms: number[]
  }[]
  more?: boolean
}
