// The ledger of a slow task (docs/api.md, "why"), as far as the page reads it.

export interface LedgerPart {
  part: string
  time_ns: number
  more_ns: number
  servers?: { host?: string; process?: string; role: string; resource: string; time_ns: number; more_ns: number }[]
}

/** Where a task's time went; its parts add up to its duration. */
export interface Ledger {
  /** Normal tasks that it is compared with. */
  peers: number
  duration_ns: number
  usual_ns: number
  excess_ns: number
  parts: LedgerPart[]
}
