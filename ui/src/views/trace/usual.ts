// Which calls took longer than 95 of 100 calls of their function did in that hour, by plumbd's statistics.

import type { FunctionRow, FunctionsAnswer } from '../../api/answers.ts'
import type { Parameters } from '../../api/ask.ts'
import { useQuestion } from '../../app/question.ts'
import { useMemo } from 'preact/hooks'
import type { Trace } from './model.ts'

/** Those with most time of their own first: so many answer for all calls but rare ones. */
const MOST_FUNCTIONS = '2000'
const HOUR_NS = 3_600_000_000_000n
/** Of fewer calls the 95th of 100 is one of the slowest few. */
const LEAST_CALLS = 20
/** Of many calls q95_ns is the middle of a range of durations, which ends so much above it. */
const INEXACT = 1 / 128

export interface Limit {
  readonly ns: number
  /** Of that hour. */
  readonly calls: number
}

export class Usual {
  private readonly limits: (Limit | undefined)[]
  private readonly roles: readonly string[]
  private readonly roleOf: readonly number[]
  private known: readonly number[] | undefined

  constructor(
    private readonly trace: Trace,
    functions: readonly FunctionRow[],
  ) {
    const { head } = trace
    this.roles = [...new Set(head.processes.map(({ role }) => role))]
    this.roleOf = head.processes.map(({ role }) => this.roles.indexOf(role))
    const limits = new Map(
      functions.flatMap(({ function: name, role, calls, q95_ns: ns }) =>
        ns === undefined || calls < LEAST_CALLS ? [] : [[`${role} ${name}`, { ns, calls }] as const],
      ),
    )
    this.limits = head.functions.flatMap((name) => this.roles.map((role) => limits.get(`${role} ${name}`)))
  }

  /** undefined: there were too few calls of it. */
  limitOf(row: number): Limit | undefined {
    const { function: functions, calls } = this.trace
    return this.limits[functions[row]! * this.roles.length + this.roleOf[calls.process[row]!]!]
  }

  isSlow(row: number): boolean {
    const limit = this.limitOf(row)
    return limit !== undefined && this.trace.calls.duration[row]! > limit.ns * (1 + INEXACT)
  }

  /** All slow ones, in order: looked for when they are first asked for. */
  get rows(): readonly number[] {
    if (this.known !== undefined) return this.known
    const rows: number[] = []
    for (let row = 0; row < this.trace.rows; row++) if (this.isSlow(row)) rows.push(row)
    this.known = rows
    return rows
  }
}

/** The hour in which a trace begins. */
export function hourAsked(trace: Trace): Parameters {
  const hour = trace.head.begin_time_ns / HOUR_NS
  return { since: String(hour * HOUR_NS), until: String((hour + 1n) * HOUR_NS), limit: MOST_FUNCTIONS }
}

interface UsualAnswer {
  /** undefined: it is not known yet, or there is none. */
  readonly usual: Usual | undefined
  readonly error: string | undefined
}

export function useUsual(trace: Trace | undefined): UsualAnswer {
  const answer = useQuestion<FunctionsAnswer>('functions', trace === undefined ? null : hourAsked(trace))
  const functions = answer.data?.functions
  const usual = useMemo(() => trace && functions && new Usual(trace, functions), [trace, functions])
  return { usual, error: answer.error }
}
