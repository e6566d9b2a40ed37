// By which method, and above which thresholds, something is a cause. By defaults plumbd says more (`why`): whom it
// waited for; else `stragglers` tells the causes.

import type { Straggler, StragglersAnswer, WhyAnswer } from '../../api/spark.ts'
import { value } from '../../app/address.ts'

export const METHODS = ['bigroots', 'ledger', 'pcc', 'mantri', 'xue'] as const
export type Method = (typeof METHODS)[number]

export interface Threshold {
  /** Of the API and of the address. */
  readonly name: string
  readonly sign: string
  readonly usual: string
}

const P = { name: 'lambda_p', sign: 'λp', usual: '1.6' }
const W = { name: 'lambda_w', sign: 'λw', usual: '0.25' }
const THRESHOLDS: Readonly<Record<Method, readonly Threshold[]>> = {
  bigroots: [
    P,
    { name: 'lambda_q', sign: 'λq', usual: '0.9' },
    { name: 'lambda_t', sign: 'λT', usual: '0.2' },
    { name: 'lambda_e', sign: 'λe', usual: '0.7' },
    W,
  ],
  ledger: [P, { ...W, usual: '0.5' }],
  pcc: [
    { name: 'lambda_ca', sign: 'λca', usual: '0.3' },
    { name: 'lambda_cq', sign: 'λcq', usual: '0.9' },
  ],
  mantri: [],
  xue: [],
}
/** Of which `why` knows. */
const TOLD_BY_WHY: readonly Method[] = ['bigroots', 'ledger']

export const methodOf = (): Method => METHODS.find((one) => one === value('method')) ?? METHODS[0]
export const thresholdsOf = (method: Method): readonly Threshold[] => THRESHOLDS[method]

/** Taken away from the address: those of one method mean nothing to the next. */
export const withoutThresholds = (): Record<string, undefined> =>
  Object.fromEntries(Object.values(THRESHOLDS).flatMap((list) => list.map(({ name }) => [name, undefined])))

const given = (method: Method): (readonly [string, string])[] =>
  THRESHOLDS[method].flatMap(({ name }) => {
    const set = value(name)
    return set === undefined ? [] : [[name, set] as const]
  })

export const whyMethod = (): { method?: Method } => (methodOf() === 'ledger' ? { method: 'ledger' } : {})

export const isDefault = (): boolean => methodOf() === METHODS[0] && given(METHODS[0]).length === 0

/** undefined: `why` says it. */
export function thresholdsAsked(): Record<string, string> | undefined {
  const method = methodOf()
  const set = given(method)
  if (set.length === 0 && TOLD_BY_WHY.includes(method)) return undefined
  return { method, ...Object.fromEntries(set) }
}

/** A host that was slower as a whole: a cause that has no topic. */
const MACHINE = 'machine'

/** What was found by the thresholds, with what `why` measured: the host that is waited for, as far as it is of the same
    topic, and what the task had of HDFS. */
function merged(row: Straggler, why: Straggler | undefined): Straggler {
  const first = row.causes[0]
  const topic = first?.topic ?? MACHINE
  const known = why?.main_cause
  const cause = first && {
    feature: first.feature,
    topic,
    ...(known?.suspect && known.topic === topic ? { suspect: known.suspect } : {}),
  }
  const ledger = row.ledger ?? why?.ledger
  return {
    ...row,
    ...(ledger && { ledger }),
    ...(why?.hdfs && { hdfs: why.hdfs }),
    ...(cause && { main_cause: cause }),
  }
}

/** By task. */
export function explainedBy(why: WhyAnswer | undefined, found: StragglersAnswer | undefined): Map<number, Straggler> {
  const told = new Map((why?.stragglers ?? []).map((one) => [one.task, one]))
  if (found === undefined) return told
  return new Map(found.stragglers.map((row) => [row.task, merged(row, told.get(row.task))]))
}
