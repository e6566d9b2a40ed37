// A part of a trace's time that is chosen: how much of it each function had for itself, on which host.

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { linkTo, refine, value } from '../../app/address.ts'
import { Bar, Name } from '../../parts/bits.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
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
      head: t('function'),
      text: true,
      cell: (sum) => (
        <a class="plain" href={linkTo('functions', '', { function: trace.head.functions[sum.function]!, by: 'host' })}>
          <Name text={trace.head.functions[sum.function]!} role={trace.head.processes[sum.process]!.role} />
        </a>
      ),
    },
    {
      key: 'host',
      head: t('host'),
      text: true,
      cell: (sum) => visible(trace.head.processes[sum.process]!.host ?? '-'),
    },
    {
      key: 'self',
      head: t('self'),
      cell: (sum) => (
        <Bar part={sum.self} whole={whole}>
          {duration(sum.self)}
        </Bar>
      ),
    },
    { key: 'share', head: t('share'), cell: (sum) => share(sum.self, whole) },
    { key: 'calls', head: t('calls'), cell: (sum) => count(sum.calls) },
  ]
}

export function Area({ shown }: { shown: Shown }): VNode {
  const { trace } = shown
  const area = areaOf(shown)
  const sums = useMemo(
    () => (area === undefined ? [] : sumArea(trace.calls, trace.function, area, trace.order)),
    [trace.calls, trace.order, area?.from, area?.to],
  )
  if (area === undefined) return <></>
  const whole = sums.reduce((all, sum) => all + sum.self, 0)
  return (
    <section class="card open" aria-label={t('The part of the time that is chosen')}>
      <header>
        <h2>{tx('{to} from {from} on', { to: duration(area.to - area.from), from: duration(area.from) })}</h2>
        <span class="quiet-text">
          {tx('{whole} of self time: calls at the same time count each', { whole: duration(whole) })}
        </span>
        <button type="button" class="small" onClick={() => setZoom(shown, area)}>
          {t('Show only this')}
        </button>
        <button type="button" class="small" onClick={() => chooseArea(undefined)}>
          {t('Choose none')}
        </button>
      </header>
      <Table
        label={t('Self time in the part that is chosen')}
        columns={columnsOf(trace, whole)}
        rows={sums.slice(0, ROWS)}
        rowKey={(sum) => `${sum.process} ${sum.function}`}
      />
      {sums.length > ROWS && <p class="more">{tx('{sums} more had less.', { sums: count(sums.length - ROWS) })}</p>}
    </section>
  )
}
