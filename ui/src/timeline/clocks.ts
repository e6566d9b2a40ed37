// How far the clocks of a trace's hosts are apart, as its calls tell, by the rule of `plumb skew`: a call on another host
// lies within its caller's time, so the offset is known up to half of what the caller took longer. No DOM.

import { endOf, type Calls } from './calls.ts'

/** What two hosts' calls tell. */
export interface ClockPair {
  /** Hosts by their numbers. offset, added to a time of 'to', gives that of 'from'; it is wrong by at most 'doubt'. */
  readonly from: number
  readonly to: number
  readonly offset: number
  readonly doubt: number
  readonly samples: number
}

/** Against the host of reference: offset, added to its times, gives those of the reference. */
export interface ClockOffset {
  readonly host: number
  readonly offset: number
  readonly doubt: number
  /** Of the call that crossed last on the way. */
  readonly samples: number
}

const MILLISECONDS = 16
const NS_PER_MS = 1_000_000
/** How much a clock may run off meanwhile, as a share of the time. */
const DRIFT = 1e-4

const turned = (pair: ClockPair): ClockPair => ({ ...pair, from: pair.to, to: pair.from, offset: -pair.offset })

/** What is told best of each pair so far, as columns: a million calls make no object each. */
class Told {
  readonly places = new Map<number, number>()
  readonly offset: number[] = []
  readonly doubt: number[] = []
  readonly samples: number[] = []
  /** By all calls the offset is at least the one and at most the other. */
  readonly low: number[] = []
  readonly high: number[] = []

  add(pair: number, offset: number, doubt: number): void {
    const at = this.places.get(pair)
    if (at === undefined) {
      this.places.set(pair, this.offset.length)
      this.offset.push(offset)
      this.doubt.push(doubt)
      this.samples.push(1)
      this.low.push(offset - doubt)
      this.high.push(offset + doubt)
      return
    }
    this.samples[at]!++
    this.low[at] = Math.max(this.low[at]!, offset - doubt)
    this.high[at] = Math.min(this.high[at]!, offset + doubt)
    if (doubt > this.doubt[at]! || (doubt === this.doubt[at] && offset >= this.offset[at]!)) return
    this.offset[at] = offset
    this.doubt[at] = doubt
  }
}

/** What the calls of a trace tell of its hosts' clocks: read piece by piece, since of a million they take some frames. */
export class ClockReader {
  private readonly told = new Told()
  private latest = 0
  private next = 0

  /** hostOf: of each process the number of its host, or -1. flags: of each row, as of trace/columns. */
  constructor(
    private readonly calls: Calls,
    private readonly flags: ArrayLike<number>,
    private readonly hostOf: ArrayLike<number>,
  ) {}

  /** So many calls more; false: that was all. */
  read(most: number): boolean {
    const { calls } = this
    const end = Math.min(this.next + most, calls.rows)
    for (; this.next < end; this.next++) {
      this.latest = Math.max(this.latest, calls.begin[this.next]!)
      this.readCall(this.next)
    }
    return end < calls.rows
  }

  private readCall(row: number): void {
    const { parent, process, begin, duration } = this.calls
    const above = parent[row]!
    if (above < 0 || duration[row]! < 0 || process[above] === process[row]) return
    const delay = duration[above]! - duration[row]!
    const from = this.hostOf[process[above]!]!
    const to = this.hostOf[process[row]!]!
    if (delay < 0 || from < 0 || to < 0 || from === to) return
    const coarse = ((this.flags[above]! | this.flags[row]!) & MILLISECONDS) !== 0
    const offset = begin[above]! - begin[row]! + Math.trunc(delay / 2)
    const doubt = Math.trunc((delay + 1) / 2) + (coarse ? NS_PER_MS : 0)
    const hosts = this.hostOf.length // there are no more
    if (from < to) this.told.add(from * hosts + to, offset, doubt)
    else this.told.add(to * hosts + from, -offset, doubt)
  }

  /** Of what was read. Where no offset fits all calls of two hosts, some end outside their callers, as those do that
      nobody waits for, and tell nothing. */
  get pairs(): ClockPair[] {
    const { told } = this
    const hosts = this.hostOf.length
    const slack = NS_PER_MS + this.latest * DRIFT
    return [...told.places]
      .filter(([, at]) => told.low[at]! <= told.high[at]! + slack)
      .map(([pair, at]) => ({
        from: Math.floor(pair / hosts),
        to: pair % hosts,
        offset: told.offset[at]!,
        doubt: told.doubt[at]!,
        samples: told.samples[at]!,
      }))
  }
}

/** Of each host that calls lead to from the reference, by the way that is known best. */
export function clockOffsets(pairs: readonly ClockPair[], reference: number): ClockOffset[] {
  const ways = new Map<number, ClockPair[]>()
  for (const way of [...pairs, ...pairs.map(turned)]) {
    const others = ways.get(way.from)
    if (others === undefined) ways.set(way.from, [way])
    else others.push(way)
  }
  const near = new Map<number, ClockOffset>()
  const done = new Map<number, ClockOffset>()
  let at: ClockOffset | undefined = { host: reference, offset: 0, doubt: 0, samples: 0 }
  while (at !== undefined) {
    const here: ClockOffset = at
    done.set(here.host, here)
    near.delete(here.host)
    for (const way of ways.get(here.host) ?? []) {
      const doubt = here.doubt + way.doubt
      if (done.has(way.to) || (near.get(way.to)?.doubt ?? Infinity) <= doubt) continue
      near.set(way.to, { host: way.to, offset: here.offset + way.offset, doubt, samples: way.samples })
    }
    at = [...near.values()].reduce<ClockOffset | undefined>(
      (least, one) => (least === undefined || one.doubt < least.doubt ? one : least),
      undefined,
    )
  }
  done.delete(reference)
  return [...done.values()]
}

/** An offset within what it may be wrong by may be none. */
export const isReal = ({ offset, doubt }: ClockOffset): boolean => Math.abs(offset) > doubt

export interface Aligned {
  readonly calls: Calls
  /** Rows by begin, where those that a call makes are not in that order. */
  readonly order: Uint32Array
  /** What was taken off all times then, so that the first begin is 0. */
  readonly first: number
  /** From the first begin to the last end. */
  readonly length: number
}

/** Of each process what is added to its times: those of hosts whose offset is real are moved. */
export function movedBy(hostOf: ArrayLike<number>, offsets: readonly ClockOffset[]): Float64Array {
  const byHost = new Map(offsets.filter(isReal).map(({ host, offset }) => [host, offset]))
  return Float64Array.from(hostOf, (host) => byHost.get(host) ?? 0)
}

/** The calls at the times of one clock. */
export function alignCalls(calls: Calls, moved: Float64Array): Aligned {
  let first = Infinity
  for (let row = 0; row < calls.rows; row++) first = Math.min(first, calls.begin[row]! + moved[calls.process[row]!]!)
  if (first === Infinity) first = 0
  const begin = calls.begin.map((at, row) => at + moved[calls.process[row]!]! - first)
  const shifted = { ...calls, begin }
  let length = 1
  for (let row = 0; row < calls.rows; row++) length = Math.max(length, endOf(shifted, row))
  const order = Uint32Array.from(begin, (_, row) => row).sort((a, b) => begin[a]! - begin[b]! || a - b)
  return { calls: shifted, order, first, length }
}
