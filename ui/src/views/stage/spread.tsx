// Tasks by what they read and what they took: who is slow because of its data, and who is slow although it had no more.

import type { VNode } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { refine, value } from '../../app/address.ts'
import { axisOf, type Axis } from '../../marks/axis.ts'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import { Choice } from '../../parts/bits.tsx'
import { Exported } from '../../parts/export.tsx'
import { t } from '../../text/t.ts'
import { bytes, count, duration } from '../../text/units.ts'
import { AMOUNTS, amountsOf, expectedOf, hasOf, type Amount, type Amounts } from './amounts.ts'
import { labelOf } from './lanes.tsx'
import { SLOW_TIMES, levelOf, levelsOf, type ColouredBy, type StageTasks } from './tasks.ts'

const HEIGHT = 240
const LEFT = 70
const RIGHT = 16
const TOP = 10
const BOTTOM = 26
const DOT_PX = 3
/** A click is for the nearest point that is not farther. */
const NEAR_PX = 14
const LINE_POINTS = 48

interface Scales {
  readonly x: Axis
  readonly y: Axis
}

interface Place {
  readonly x: number
  readonly y: number
}

function scalesOf(tasks: StageTasks, of: Amounts): Scales {
  const amounts = of.rows.map(of.amount)
  const durations = of.rows.map((row) => tasks.duration[row]!)
  const ends = (values: readonly number[], typical: number) => {
    let [least, most] = [Infinity, 0]
    for (const value of values) {
      if (value > 0 && value < least) least = value
      if (value > most) most = value
    }
    return { least: Number.isFinite(least) ? least : 1, typical, most }
  }
  const slow = SLOW_TIMES * tasks.median
  return { x: axisOf(ends(amounts, of.median)), y: axisOf(ends([...durations, slow], tasks.median)) }
}

const placeAt = ({ x, y }: Scales, width: number, amount: number, ns: number): Place => ({
  x: LEFT + x.place(amount) * (width - LEFT - RIGHT),
  y: TOP + (1 - y.place(ns)) * (HEIGHT - TOP - BOTTOM),
})

function paintAxes(context: CanvasRenderingContext2D, scales: Scales, width: number): void {
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`
  context.strokeStyle = colour('line')
  context.fillStyle = colour('text-soft')
  context.textAlign = 'right'
  for (const ns of scales.y.ticks) {
    const { y } = placeAt(scales, width, 0, ns)
    context.strokeRect(LEFT, Math.round(y) + 0.5, width - LEFT - RIGHT, 0)
    context.fillText(duration(ns), LEFT - 8, y + 4)
  }
  context.textAlign = 'center'
  let free = 0
  for (const amount of scales.x.ticks) {
    const { x } = placeAt(scales, width, amount, 0)
    const half = context.measureText(bytes(amount)).width / 2
    if (x - half < free || x + half > width) continue
    free = x + half + 12
    context.fillText(bytes(amount), x, HEIGHT - 8)
  }
}

function paintLine(
  context: CanvasRenderingContext2D,
  points: readonly Place[],
  [name, dash]: readonly [name: string, dash: readonly number[]],
): void {
  context.strokeStyle = colour(name)
  context.lineWidth = 1.5
  context.setLineDash([...dash])
  context.beginPath()
  points.forEach((point, i) => (i === 0 ? context.moveTo(point.x, point.y) : context.lineTo(point.x, point.y)))
  context.stroke()
  context.setLineDash([])
}

/** The median, 1.5 times as much, and what would be in proportion to what is read. */
function paintLines(context: CanvasRenderingContext2D, tasks: StageTasks, of: Amounts, scales: Scales): void {
  const width = context.canvas.clientWidth
  const across = (ns: number): Place[] => [
    { x: LEFT, y: placeAt(scales, width, 0, ns).y },
    { x: width - RIGHT, y: placeAt(scales, width, 0, ns).y },
  ]
  const most = of.amount(of.rows.at(-1)!)
  const slope = Array.from({ length: LINE_POINTS + 1 }, (_, i) => most * 10 ** (-4 * (1 - i / LINE_POINTS)))
    .map((amount) => ({ amount, ns: expectedOf(of, tasks, amount) }))
    .filter(({ ns }) => scales.y.place(ns) < 1)
  paintLine(context, across(tasks.median), ['line-strong', [2, 4]])
  paintLine(context, across(SLOW_TIMES * tasks.median), ['slower', [6, 3]])
  if (of.median > 0)
    paintLine(
      context,
      slope.map(({ amount, ns }) => placeAt(scales, width, amount, ns)),
      ['namenode', []],
    )
}

/** Those of the most notable class last; where thousands fall on one pixel, one of them. */
function paintDots(context: CanvasRenderingContext2D, props: Props, of: Amounts, scales: Scales): void {
  const { tasks, by } = props
  const width = context.canvas.clientWidth
  const [levels, level] = [levelsOf(tasks, by), levelOf(tasks, by)]
  const paths = levels.map(() => new Path2D())
  const drawn = new Set<number>()
  for (const row of of.rows) {
    const { x, y } = placeAt(scales, width, of.amount(row), tasks.duration[row]!)
    const pixel = (level(row) * HEIGHT + Math.round(y)) * width + Math.round(x)
    if (drawn.has(pixel)) continue
    drawn.add(pixel)
    paths[level(row)]!.moveTo(x + DOT_PX, y)
    paths[level(row)]!.arc(x, y, DOT_PX, 0, 7)
  }
  context.globalAlpha = 0.75
  levels.forEach((one, i) => {
    context.fillStyle = colour(`bar-${one.className}`)
    context.fill(paths[i]!)
  })
  context.globalAlpha = 1
}

function nearest(tasks: StageTasks, of: Amounts, scales: Scales, event: MouseEvent): number | undefined {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
  const far = (row: number): number => {
    const { x, y } = placeAt(scales, box.width, of.amount(row), tasks.duration[row]!)
    return Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top))
  }
  let [best, distance]: [number | undefined, number] = [undefined, NEAR_PX]
  for (const row of of.rows) {
    const now = far(row)
    if (now < distance) [best, distance] = [row, now]
  }
  return best
}

/** To the one that read next less or more, or took next less or longer. */
function moved(tasks: StageTasks, of: Amounts, row: number, key: string): number | undefined {
  const step = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : key === 'ArrowLeft' || key === 'ArrowDown' ? -1 : 0
  if (step === 0) return undefined
  const across = key === 'ArrowRight' || key === 'ArrowLeft'
  const order = across ? of.rows : [...of.rows].sort((a, b) => tasks.duration[a]! - tasks.duration[b]!)
  const at = order.indexOf(row)
  return at < 0 ? order.at(-1) : order[at + step]
}

interface Props {
  readonly tasks: StageTasks
  readonly by: ColouredBy
}

function Dots({ props, of }: { props: Props; of: Amounts }): VNode {
  const { tasks, by } = props
  const scales = useMemo(() => scalesOf(tasks, of), [tasks, of])
  const chosen = value('sel')
  const row = chosen === undefined ? -1 : tasks.task.indexOf(Number(chosen))
  const paint = useCallback<Painter>(
    (context, width) => {
      paintAxes(context, scales, width)
      paintLines(context, tasks, of, scales)
      paintDots(context, props, of, scales)
      if (!of.rows.includes(row)) return
      const { x, y } = placeAt(scales, width, of.amount(row), tasks.duration[row]!)
      context.strokeStyle = colour('text')
      context.lineWidth = 2
      context.beginPath()
      context.arc(x, y, DOT_PX + 3, 0, 7)
      context.stroke()
    },
    [tasks, of, scales, by, row],
  )
  const choose = (one: number | undefined): void => {
    if (one !== undefined) refine({ sel: String(tasks.task[one]) })
  }
  return (
    <figure class="chart card">
      <Canvas
        height={HEIGHT}
        paint={paint}
        tabIndex={0}
        role="application"
        aria-label={t('Tasks by what they read and took: arrow keys go from task to task, the line below tells it')}
        onClick={(event) => choose(nearest(tasks, of, scales, event))}
        onKeyDown={(event) => {
          const next = moved(tasks, of, row, event.key)
          if (next === undefined) return
          event.preventDefault()
          choose(next)
        }}
      />
      <figcaption class="quiet-text" aria-live="polite">
        {of.rows.includes(row)
          ? t('{task}, read {amount}', { task: labelOf(tasks, row), amount: bytes(of.amount(row)) })
          : t('A click chooses a task.')}
      </figcaption>
    </figure>
  )
}

function Lines({ tasks, of }: { tasks: StageTasks; of: Amounts }): VNode {
  const lines = [
    ['median-line', t('median {duration}', { duration: duration(tasks.median) })],
    ['slow-line', t('1.5 times the median')],
    ['slope-line', t('in proportion to the median of what is read, {amount}', { amount: bytes(of.median) })],
  ] as const
  return (
    <p class="legend-line quiet-text">
      {lines.map(([name, text]) => (
        <span key={name} class="legend-item">
          <span class={`line-sample ${name}`} aria-hidden="true" /> {text}
        </span>
      ))}
    </p>
  )
}

function Sentence({ of }: { of: Amounts }): VNode {
  if (of.slow === 0) return <p>{t('No task took 1.5 times the median or more.')}</p>
  const slow = of.slow === 1 ? t('1 task') : t('{tasks} tasks', { tasks: count(of.slow) })
  const [data, others] = [count(of.inProportion), count(of.slow - of.inProportion)]
  if (of.inProportion === 0)
    return <p>{t('No: {slow} took 1.5 times the median or more, and none had as much more to read.', { slow })}</p>
  if (of.inProportion === of.slow)
    return <p>{t('Yes: {slow} took 1.5 times the median or more, and had as much more to read.', { slow })}</p>
  return (
    <p>
      {t('In part: {slow} took 1.5 times the median or more; {data} had as much more to read, {others} did not.', {
        slow,
        data,
        others,
      })}
    </p>
  )
}

const NAMES: Readonly<Record<Amount, string>> = { all: t('all'), input: t('input'), shuffle: t('shuffle') }

export function Spread(props: Props): VNode {
  const { tasks } = props
  const asked = AMOUNTS.find((one) => one === value('read')) ?? 'all'
  const of = useMemo(() => amountsOf(tasks, asked), [tasks, asked])
  const both = hasOf(tasks, 'input') && hasOf(tasks, 'shuffle')
  return (
    <section class="stage-spread">
      <h2>{t('Was it their data?')}</h2>
      {of.rows.length === 0 || of.median + of.amount(of.rows.at(-1)!) === 0 ? (
        <p class="more">{t('Of no task of it is known what it read of files or of shuffles.')}</p>
      ) : (
        <>
          <Sentence of={of} />
          <p class="more">{t('Counted are tasks that ended well and of which it is known what they read.')}</p>
          {both && (
            <Choice name="read" label={t('what was read')} options={AMOUNTS.map((one) => [one, NAMES[one]] as const)} />
          )}
          <Lines tasks={tasks} of={of} />
          <Exported name="spread">
            <Dots props={props} of={of} />
          </Exported>
        </>
      )}
    </section>
  )
}
