// What of a trace is folded, in the address: single calls, and functions all of whose calls are. Tree and lanes share it,
// but for what is open in the tree of a large trace, all of which comes folded.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Column } from '../../api/columns.ts'
import { refine, value, values } from '../../app/address.ts'
import { useWaiting } from '../../app/question.ts'
import { belowOf, hideOthers, isNamed, type Below, type Hidden, type Named } from '../../timeline/folds.ts'
import { sumsBefore } from '../../timeline/calls.ts'
import { hasChildren } from '../../timeline/rows.ts'
import { functionOf, type Trace } from './model.ts'
import { wantedOf, type Marks } from './shown.ts'
import { LineThread } from './threads.ts'

/** Of an address. */
const MOST_NAMED = 2000

const openName = (areClosed: boolean): string => (areClosed ? 'rows' : 'open')
const numbers = (name: string): Set<number> => new Set((value(name) ?? '').split(',').filter(Boolean).map(Number))
const listOf = (rows: ReadonlySet<number>): string => [...rows].sort((a, b) => a - b).join(',')

/** All above a call. */
function callersOf(trace: Trace, row: number): Set<number> {
  const rows = new Set<number>()
  for (let at = trace.calls.parent[row]!; at >= 0 && !rows.has(at); at = trace.calls.parent[at]!) rows.add(at)
  return rows
}

export class Folds {
  private readonly fold = numbers('fold')
  private readonly open: Set<number>
  /** 1 for each that is folded: a million calls are asked. */
  private readonly functions: Uint8Array
  private readonly above: ReadonlySet<number>
  /** Where not all are closed. */
  readonly named: Named

  /** areClosed: all calls but those that are open, and those above the chosen one. */
  constructor(
    private readonly trace: Trace,
    chosen: number,
    readonly areClosed: boolean,
  ) {
    this.open = numbers(openName(areClosed))
    this.functions = new Uint8Array(trace.head.functions.length)
    for (const name of values('folded')) this.functions[trace.head.functions.indexOf(name)] = 1
    this.above = areClosed ? callersOf(trace, chosen) : new Set()
    this.named = { fold: this.fold, open: this.open, functions: this.functions }
  }

  has(row: number): boolean {
    if (!hasChildren(this.trace.tree.end, row)) return false
    if (this.areClosed) return !this.open.has(row) && !this.above.has(row)
    return isNamed(this.named, this.trace.function, row)
  }

  hasFunction(row: number): boolean {
    return this.functions[this.trace.function[row]!] === 1
  }

  areNone(): boolean {
    return !this.areClosed && this.fold.size === 0 && !this.functions.includes(1)
  }

  toggle(row: number): void {
    if (!hasChildren(this.trace.tree.end, row)) return
    const above = this.above.has(row)
    const named = this.isClosed(row) ? this.open : this.fold
    if (!named.delete(row) && !above) named.add(row)
    this.keep()
    if (above) refine({ sel: String(row) }) // or what is chosen below it would keep it open
  }

  /** All calls of the function of one. */
  toggleFunction(row: number): void {
    if (this.areClosed || !hasChildren(this.trace.tree.end, row)) return
    const name = functionOf(this.trace, row)
    const others = values('folded').filter((one) => one !== name)
    for (const one of this.open) if (this.trace.function[one] === this.trace.function[row]) this.open.delete(one)
    this.keep()
    refine({ folded: this.hasFunction(row) ? others : [...others, name] })
  }

  /** The call and all that lie below it: as many as an address can name. */
  setBelow(row: number, folded: boolean): void {
    const { end } = this.trace.tree
    for (let at = row; at < end[row]!; at++) {
      if (!hasChildren(end, at)) continue
      const closed = this.isClosed(at)
      const named = closed ? this.open : this.fold
      if (folded === closed) named.delete(at)
      else if (named.size < MOST_NAMED) named.add(at)
    }
    this.keep()
  }

  private isClosed(row: number): boolean {
    return this.areClosed || this.hasFunction(row)
  }

  private keep(): void {
    refine({ [openName(this.areClosed)]: listOf(this.open), fold: listOf(this.fold) })
  }
}

export const unfoldAll = (): void => refine({ fold: undefined, folded: undefined, open: undefined })

export function useFolds(trace: Trace, chosen: number, closed: boolean): Folds {
  const named = `${value('fold') ?? ''} ${value(openName(closed)) ?? ''} ${values('folded').join(' ')}`
  return useMemo(() => new Folds(trace, chosen, closed), [trace, named, closed, closed ? chosen : 0])
}

export interface FoldedInto extends Below {
  /** Of the call and of what is folded into it, in nanoseconds. */
  readonly critical: number
}

/** What is folded into calls, or would be. */
export class FoldSums {
  private readonly criticalBefore: Float64Array | undefined

  constructor(
    private readonly trace: Trace,
    critical: Column | undefined,
  ) {
    this.criticalBefore = critical && sumsBefore(critical)
  }

  of(row: number): FoldedInto {
    const { tree } = this.trace
    const before = this.criticalBefore
    return { ...belowOf(tree, row), critical: before === undefined ? 0 : before[tree.end[row]!]! - before[row]! }
  }
}

/** What is asked for alone, with its callers and the chosen call: 1 for each call that is left out. */
export function useLeftOut(trace: Trace, marks: Marks, chosen: number): Uint8Array | undefined {
  const isWanted = value('others') === 'hidden' ? wantedOf(marks) : undefined
  const others = useMemo(
    () => isWanted && hideOthers(trace.calls.parent, isWanted),
    [trace, isWanted === undefined, marks.only, marks.critical, marks.found, marks.usual],
  )
  const stays = others?.[chosen] === 1 ? chosen : -1
  return useMemo(() => {
    if (others === undefined || stays < 0) return others
    const left = others.slice()
    for (let at = stays; at >= 0; at = trace.calls.parent[at]!) left[at] = 0
    return left
  }, [others, stays])
}

interface Folded {
  /** With the lines of what is seen. */
  readonly trace: Trace
  readonly hidden?: Omit<Hidden, 'rows'>
  readonly error?: string
}

/** Laid out in another thread: until it is done, what was there stays. */
export function useFolded(trace: Trace, folds: Folds, wanted: boolean, leftOut: Uint8Array | undefined): Folded {
  const asked = useMemo(
    () => (!wanted || (folds.areNone() && leftOut === undefined) ? undefined : { named: folds.named }),
    [trace, folds, wanted, leftOut],
  )
  const thread = useMemo(() => {
    const { end, selfBefore } = trace.tree
    return new LineThread({ ...trace.calls, functions: trace.function, end, selfBefore })
  }, [trace])
  useEffect(() => () => thread.end(), [thread])
  const [laid, setLaid] = useState<Folded & { readonly of: Trace; readonly asked: typeof asked }>()
  useEffect(() => {
    if (asked === undefined) return
    const abort = new AbortController()
    thread.lay(asked.named, leftOut, abort.signal).then(
      ({ hidden, ...lines }) => setLaid({ of: trace, asked, trace: { ...trace, ...lines }, hidden }),
      (error: unknown) => {
        if (!abort.signal.aborted) setLaid({ of: trace, asked, trace, error: String(error) })
      },
    )
    return () => abort.abort()
  }, [asked])
  useWaiting(asked !== undefined && laid?.asked !== asked)
  return asked !== undefined && laid?.of === trace ? laid : { trace }
}
