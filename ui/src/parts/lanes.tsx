// Bars over time in lanes, by group: stages of an application, tasks of executors. Elements, so that keys reach them;
// of each that leads somewhere the view has a link beside the lanes, too, since narrow ones are for the mouse alone.

import type { VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { zone } from '../app/choices.ts'
import { t } from '../text/t.ts'
import { axisTime, dayTime, ticks } from '../text/times.ts'
import { layLanes } from '../timeline/lanes.ts'
import type { ChartData } from './csv.ts'
import { Exported } from './export.tsx'

/** What keys reach is large enough to be hit; what is narrower is an image, and the view's table or list has the link. */
const TARGET_PX = 24
const LANE_PX = 18
/** Between two times of the axis; the longest, with milliseconds, has some 80. */
const TICK_PX = 90
const MOST_TICKS = 8

export interface LaneBar {
  readonly key: string
  readonly begin: bigint
  readonly end: bigint
  readonly label: string
  /** In the bar, where there is room. */
  readonly text: string
  readonly className: string
  /** undefined: it leads nowhere. */
  readonly href?: string
  readonly chosen: boolean
}

export interface Group {
  readonly name: string
  readonly bars: readonly LaneBar[]
}

type Way =
  | { readonly role: 'img' }
  | { readonly role: 'img'; readonly onClick: () => void; readonly 'data-href': string }
  | { readonly href: string }

/** Of what leads nowhere, of a narrow bar, and of one that keys reach. */
const way = (href: string | undefined, px: number): Way => {
  if (href === undefined) return { role: 'img' }
  if (px < TARGET_PX) return { role: 'img', onClick: () => void (location.hash = href), 'data-href': href }
  return { href }
}

function Bars(props: { group: Group; since: bigint; length: number; width: number }): VNode {
  const { group, since, length, width } = props
  const lanePx = group.bars.some((bar) => bar.href !== undefined) ? TARGET_PX : LANE_PX
  const bars = group.bars.map((bar) => ({ begin: Number(bar.begin - since), end: Number(bar.end - since) }))
  const { lanes, count } = layLanes(bars)
  return (
    <div class="lane-group">
      <div class="lane-name">{group.name}</div>
      <div class="lane-bars" style={{ height: `${Math.max(1, count) * lanePx}px` }}>
        {group.bars.map((bar, i) => (
          <a
            key={bar.key}
            {...way(bar.href, ((bars[i]!.end - bars[i]!.begin) / length) * width)}
            class={`lane-bar ${bar.className} ${bar.chosen ? 'chosen' : ''}`}
            title={bar.label}
            aria-label={bar.label}
            style={{
              left: `${((100 * bars[i]!.begin) / length).toFixed(3)}%`,
              width: `max(3px, ${((100 * (bars[i]!.end - bars[i]!.begin)) / length).toFixed(3)}%)`,
              top: `${lanes[i]! * lanePx}px`,
              height: `${lanePx}px`,
              lineHeight: `${lanePx - 2}px`,
            }}
          >
            {bars[i]!.end - bars[i]!.begin > length / 25 && bar.text}
          </a>
        ))}
      </div>
    </div>
  )
}

/** Bars that reach out of the period are cut to it. */
const cut = (bars: readonly LaneBar[], since: bigint, until: bigint): LaneBar[] =>
  bars
    .filter((bar) => bar.begin <= until && bar.end >= since)
    .map((bar) => ({ ...bar, begin: bar.begin < since ? since : bar.begin, end: bar.end > until ? until : bar.end }))

/** A row for each bar. */
function dataOf(groups: readonly Group[]): ChartData {
  const time = (at: bigint): string => dayTime(at, zone.value, 3)
  return {
    head: [t('lane'), t('what'), t('begin'), t('end')],
    unit: '',
    rows: groups.flatMap(({ name, bars }) => bars.map((bar) => [name, bar.label, time(bar.begin), time(bar.end)])),
    write: String,
  }
}

/** period: what the axis has; undefined: as far as there are bars. */
export function Lanes(props: {
  groups: readonly Group[]
  label: string
  period?: { readonly since: bigint; readonly until: bigint }
}): VNode {
  const { groups, label, period } = props
  const axis = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = axis.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [groups.length === 0])
  const bars = groups.flatMap((group) => group.bars)
  if (bars.length === 0) return <></>
  const since = period?.since ?? bars.reduce((least, bar) => (bar.begin < least ? bar.begin : least), bars[0]!.begin)
  const until = period?.until ?? bars.reduce((most, bar) => (bar.end > most ? bar.end : most), bars[0]!.end)
  const length = Math.max(1, Number(until - since))
  const { at, step } = ticks(
    since,
    until > since ? until : since + 1n,
    Math.min(MOST_TICKS, Math.max(2, Math.floor(width / TICK_PX))),
  )
  return (
    <Exported name={label} data={() => dataOf(groups)}>
      <section class="card lanes" aria-label={label}>
        {groups.map(({ name, bars }) => (
          <Bars
            key={name}
            group={{ name, bars: cut(bars, since, until) }}
            since={since}
            length={length}
            width={width}
          />
        ))}
        <div class="lane-group">
          <div class="lane-name" />
          <div class="axis" ref={axis}>
            {at.map((ns) => (
              <span key={String(ns)} style={{ left: `${(100 * Number(ns - since)) / length}%` }}>
                {axisTime(ns, zone.value, step)}
              </span>
            ))}
          </div>
        </div>
      </section>
    </Exported>
  )
}
