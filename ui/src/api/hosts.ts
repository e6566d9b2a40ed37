// The answers about hosts of docs/api.md, as far as the page reads them.

import type { Period } from './answers.ts'

export interface Spell {
  host?: string
  all_hosts?: boolean
  class: string
  layer: string
  function: string
  role: string
  state: string
  part_of?: string
  slowdown: number
  z: number
  compared: string
  begin_time_ns: bigint
  end_time_ns?: bigint
  calls: number
  bad_minutes: number
  lost_ns: number
  waited_ns: number
  advice?: string[]
  link?: { from: string; to: string; both_ways: boolean }
  example?: { trace: string; begin_time_ns: bigint; duration_ns: number }
}

export interface SlowAnswer extends Period {
  slow: Spell[]
  more?: boolean
}

export interface NodeRow {
  host: string
  class: string
  state: string
  slowdown?: number
  z?: number
  constant?: number
  calls: number
}

export interface NodesAnswer extends Period {
  state: string
  history_ns: number
  minutes_read: number
  minutes_learned: number
  hosts: number
  calls: number
  judged: boolean
  spells: Spell[]
  nodes: NodeRow[]
  more?: boolean
  functions?: {
    function: string
    role: string
    class: string
    size_bytes?: number
    calls: number
    predicted_ns: number
    seen_ns: number
    slowdown: number
  }[]
  timeline?: {
    class: string
    points: { time_ns: bigint; slowdown: number; tail_slowdown?: number; calls: number; bad?: boolean }[]
  }[]
}

export interface WaitedTask {
  app: string
  stage: number
  stage_attempt: number
  task: number
  host?: string
  begin_time_ns: bigint
  duration_ns: number
  scale: number
  explains_ns: number
  trace: string
  suspect: { resource: string; function: string; role: string }
}

export interface HostsAnswer {
  apps: number
  hosts: {
    host: string
    role: string
    resource: string
    function: string
    tasks: number
    explains_ns: number
    since_time_ns: bigint
  }[]
  tasks?: WaitedTask[]
  more?: boolean
}

export interface SkewAnswer {
  traces: number
  pairs: { from: string; to: string; offset_ns: number; uncertainty_ns: number; samples: number }[]
}

export interface SendersAnswer {
  senders: { sender: string; received: number; stored: number; [other: string]: unknown }[]
}

/** Of what was not measured in a step: -1. */
export interface SamplesAnswer extends Period {
  host: string
  step_ns?: number
  samples_total: number
  at: number[]
  samples: number[]
  user: number[]
  system: number[]
  iowait: number[]
  steal: number[]
  disk: number[]
  disk_name?: string
  rx_bytes_per_s: number[]
  tx_bytes_per_s: number[]
}
