// A part of a trace's time that is chosen: how much of it each function had for itself, on which host.

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { linkTo, refine, value } from '../../app/address.ts'
import { Bar, Name } from '../../parts/bits.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { sumArea, type AreaSum } from '../../timeline/area.ts'
import { clampZoom, type Zoom } from '../../timeline/zoom.ts'
import type { Trace } from './model.ts'
import { setZoom, type Shown } from './shown.ts'

const ROWS = 12

/** "from,to" in the address, in nanoseconds from the begin. */
export function areaOf(shown: Shown): Zoom | undefined {
  const [from, to] = (value('area') ?? '').split(',').map(Number)
  if (from === undefined || to === undefined || !(to > from) || !Number.isFinite(to)) return undefined
  return clampZoom({ from, to }, shown.length)
}

export const chooseArea = (area: Zoom | undefined): void =>
  refine({ area: area && `${Math.floor(area.from)},${Math.ceil(area.to)}` })

function columnsOf(trace: Trace, whole: number): Column<AreaSum>[] {
  return [
    {
      key: 'function',
      head: 'function',
      text: true,
      cell: (sum) => (
        <a class="plain" href={linkTo('functions', '', { function: trace.head.functions[sum.function]!, by: 'host' })}>
          <Name text={trace.head.functions[sum.function]!} role={trace.head.processes[sum.process]!.role} />
        </a>
      ),
    },
    { key: 'host', head: 'host', text: true, cell: (sum) => visible(trace.head.processes[sum.process]!.host ?? '-') },
    {
      key: 'self',
      head: 'self',
      cell: (sum) => (
        <Bar part={sum.self} whole={whole}>
          {duration(sum.self)}
        </Bar>
      ),
    },
    { key: 'share', head: 'share', cell: (sum) => share(sum.self, whole) },
    { key: 'calls', head: 'calls', cell: (sum) => count(sum.calls) },
  ]
}

export function Area({ shown }: { shown: Shown }): VNode {
  const { trace } = shown
  const area = areaOf(shown)
  const sums = useMemo(
    () => (area === undefined ? [] : sumArea(trace.calls, trace.function, trace.head.functions.length, area)),
    [trace, area?.from, area?.to],
  )
  if (area === undefined) return <></>
  const whole = sums.reduce((all, sum) => all + sum.self, 0)
  return (
    <section class="card open" aria-label="The part of the time that is chosen">
      <header>
        <h2>
          {duration(area.to - area.from)} from {duration(area.from)} on
        </h2>
        <span class="quiet-text">{duration(whole)} of self time: calls at the same time count each</span>
        <button type="button" class="small" onClick={() => setZoom(shown, area)}>
          Show only this
        </button>
        <button type="button" class="small" onClick={() => chooseArea(undefined)}>
          Choose none
        </button>
      </header>
      <Table
        label="Self time in the part that is chosen"
        columns={columnsOf(trace, whole)}
        rows={sums.slice(0, ROWS)}
        rowKey={(sum) => `${sum.process} ${sum.function}`}
      />
      {sums.length > ROWS && <p class="more">{count(sums.length - ROWS)} more had less.</p>}
    </section>
  )
}
