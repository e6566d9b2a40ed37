// Equal siblings in the tree: one row for all, until it is opened. Those that are open are in the address, by their
// first call; the one in which the chosen call is is open, too.

import { refine, value } from '../../app/address.ts'
import type { Run } from '../../timeline/rows.ts'
import type { Trace } from './model.ts'
import { choose } from './shown.ts'

export class Runs {
  private readonly open = new Set((value('runs') ?? '').split(',').filter(Boolean).map(Number))
  readonly parent: Int32Array

  constructor(
    private readonly trace: Trace,
    private readonly chosen: number,
  ) {
    this.parent = trace.calls.parent
  }

  readonly kindOf = (row: number): number =>
    this.trace.function[row]! * this.trace.head.processes.length + this.trace.calls.process[row]!

  readonly isOpen = (run: Run): boolean => this.open.has(run.first) || this.holdsChosen(run)

  readonly toggle = (run: Run): void => {
    const wasOpen = this.isOpen(run)
    if (wasOpen) this.open.delete(run.first)
    else this.open.add(run.first)
    refine({ runs: [...this.open].sort((a, b) => a - b).join(',') })
    if (wasOpen && this.holdsChosen(run)) choose(run.first) // or what is chosen in it would keep it open
  }

  private holdsChosen({ first, end }: Run): boolean {
    return this.chosen > first && this.chosen < end
  }
}
