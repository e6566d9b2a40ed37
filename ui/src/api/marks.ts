// What was done to the hosts: the answer "marks" of docs/api.md.

export interface Mark {
  begin_time_ns: bigint
  /** undefined: it was a moment. */
  end_time_ns?: bigint
  /** undefined: all hosts. */
  host?: string
  kind?: string
  text?: string
}

export interface MarksAnswer {
  marks: Mark[]
  more?: boolean
}
