// By how much the clock of a host is ahead of the others', from calls between pairs of them. No DOM.

import type { SkewAnswer } from '../../api/hosts.ts'

export interface Clock {
  /** Against most others; negative: it is behind. */
  readonly aheadNs: number
  readonly uncertaintyNs: number
  /** Hosts that it is compared with. */
  readonly others: number
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[(sorted.length - 1) >> 1] ?? 0
}

/** The median over the others, so that one wrong clock among them does not make all look wrong. offset_ns added to a
    time of `to` gives that of `from`: so much `from` is ahead. */
export function clocksOf(pairs: SkewAnswer['pairs']): Map<string, Clock> {
  const found = new Map<string, { ahead: number[]; uncertainty: number[] }>()
  const add = (host: string, ahead: number, uncertainty: number): void => {
    const one = found.get(host) ?? { ahead: [], uncertainty: [] }
    one.ahead.push(ahead)
    one.uncertainty.push(uncertainty)
    found.set(host, one)
  }
  for (const { from, to, offset_ns, uncertainty_ns } of pairs) {
    add(from, offset_ns, uncertainty_ns)
    add(to, -offset_ns, uncertainty_ns)
  }
  return new Map(
    [...found].map(([host, { ahead, uncertainty }]) => [
      host,
      { aheadNs: middle(ahead), uncertaintyNs: middle(uncertainty), others: ahead.length },
    ]),
  )
}

/** By more than it may be wrong. */
export const isOff = (clock: Clock): boolean => Math.abs(clock.aheadNs) > clock.uncertaintyNs
