// Which hosts are slow, and since when: at twice their peers for three steps, to the end or not. Which functions are.

import type { MapAnswer } from '../../api/series.ts'
import type { DiffRow } from '../../api/diff.ts'

const TIMES = 2
const STEPS = 3
/** Of fewer calls in a step the mean is chance: of 3,000 equal hosts with two calls each a minute, six of 100 had three
 * such minutes. So these steps are as steps without calls. */
const LEAST_CALLS = 8
/** Of two nobody knows which one is slow. */
const LEAST_HOSTS = 3

export interface Slow {
  readonly host: string
  /** The step with which it began. */
  readonly since: number
  readonly until: number
  /** To the median of the hosts, over these steps. */
  readonly ratio: number
  /** Still so in the last step that has calls of it. */
  readonly now: boolean
}

/** What is made of an answer is made once: of 3,000 hosts it is much, and a click does not change it. */
export function keptFor<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>()
  return (of) => {
    const before = known.get(of)
    if (before !== undefined) return before
    const made = make(of)
    known.set(of, made)
    return made
  }
}

/** The longest run of steps, steps without calls being neither. */
function longestRun(at: readonly number[], ratios: readonly number[]): { first: number; last: number } | undefined {
  let best: { first: number; last: number } | undefined
  let first = -1
  ratios.forEach((ratio, i) => {
    if (ratio < TIMES) {
      first = -1
      return
    }
    if (first < 0) first = i
    if (i - first + 1 >= STEPS && (best === undefined || i - first > best.last - best.first)) best = { first, last: i }
  })
  return at.length === 0 ? undefined : best
}

/** At some step at least. */
export const haveEnoughPeers = (answer: MapAnswer): boolean =>
  answer.peers?.[0]?.hosts.some((hosts) => hosts >= LEAST_HOSTS) === true

/** By step; none where fewer hosts have calls. */
export function mediansOf(answer: MapAnswer, leastHosts = 1): (number | undefined)[] {
  const medians: (number | undefined)[] = []
  const peers = answer.peers?.[0]
  peers?.at.forEach((step, i) => {
    if (peers.hosts[i]! >= leastHosts) medians[step] = peers.medians[i]!
  })
  return medians
}

export const slowHosts = keptFor((answer: MapAnswer): Slow[] => {
  const medians = mediansOf(answer, LEAST_HOSTS)
  const found = answer.series.flatMap((row): Slow[] => {
    const at: number[] = []
    const ratios: number[] = []
    for (let i = 0; i < row.at.length; i++) {
      if (row.calls[i]! < LEAST_CALLS) continue
      const median = medians[row.at[i]!]
      at.push(row.at[i]!)
      ratios.push(median === undefined || median <= 0 ? 0 : row.values[i]! / median)
    }
    const run = longestRun(at, ratios)
    if (run === undefined) return []
    const within = ratios.slice(run.first, run.last + 1)
    return [
      {
        host: row.host ?? '',
        since: at[run.first]!,
        until: at[run.last]!,
        ratio: within.reduce((sum, ratio) => sum + ratio, 0) / within.length,
        now: run.last >= ratios.length - 2,
      },
    ]
  })
  return found.sort((a, b) => Number(b.now) - Number(a.now) || b.ratio - a.ratio)
})

/** Doublings at which a colour is full. */
const FULL_DOUBLINGS = 2

/** ratio: to the median of the peers. */
export function peerShare(ratio: number): number {
  if (ratio <= 0) return -1
  return Math.max(-1, Math.min(1, Math.log2(ratio) / FULL_DOUBLINGS))
}

const FUNCTIONS = 5

/** What its calls cost more than as many would have before. */
export const costsMore = (row: DiffRow): number => (row.mean_change_ns ?? 0) * (row.b?.calls ?? 0)

/** Functions that are slower, those that cost most more first: diff sorts by totals, which grow with calls, too. */
export const slowerRows = (rows: readonly DiffRow[]): DiffRow[] =>
  rows
    .filter((row) => row.state === 'slower')
    .sort((a, b) => costsMore(b) - costsMore(a))
    .slice(0, FUNCTIONS)
