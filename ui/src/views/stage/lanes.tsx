// The tasks of a stage on their executors over time: as elements, which keys reach, or of many as one canvas, in which
// arrow keys go from task to task.

import type { VNode } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { linkWith, refine, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { Canvas, colour, type Painter } from '../../marks/canvas.tsx'
import type { ChartData } from '../../parts/csv.ts'
import { Exported } from '../../parts/export.tsx'
import { Lanes, type Group } from '../../parts/lanes.tsx'
import { t } from '../../text/t.ts'
import { axisTime, ticks } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { endOf, layTasks, runsOf, taskIn, type LaidTasks } from '../../timeline/task-lanes.ts'
import { LISTED, levelOf, levelsOf, timesMedian, type ColouredBy, type StageTasks } from './tasks.ts'

const MOST_RECTANGLES = 60_000
const LEFT = 170
const BOTTOM = 24

const nameOf = (tasks: StageTasks, executor: number): string => {
  const one = tasks.head.executors[executor]
  return `${visible(one?.host ?? '')} · ${visible(one?.executor ?? '')}`
}

export function labelOf(tasks: StageTasks, row: number): string {
  const times =
    tasks.median === 0 ? '' : t(', {timesMedian} times the median', { timesMedian: timesMedian(tasks, row).toFixed(1) })
  return t('task {task}, {status}: {duration}{times}', {
    task: tasks.task[row]!,
    status: word(tasks.head.statuses[tasks.status[row]!] ?? ''),
    duration: duration(tasks.duration[row]!),
    times,
  })
}

const orderOf = (tasks: StageTasks): number[] =>
  tasks.head.executors.map((_, i) => i).sort((a, b) => nameOf(tasks, a).localeCompare(nameOf(tasks, b)))

function groupsOf(tasks: StageTasks, by: ColouredBy): Group[] {
  const [levels, level, chosen] = [levelsOf(tasks, by), levelOf(tasks, by), value('sel')]
  const base = tasks.head.begin_time_ns ?? 0n
  const ns = (at: number): bigint => base + BigInt(Math.round(at))
  return orderOf(tasks).map((executor) => ({
    name: nameOf(tasks, executor),
    bars: layTasks(tasks, [executor])
      .lanes.flatMap((lane) => lane.tasks)
      .sort((a, b) => tasks.task[a]! - tasks.task[b]!)
      .map((row) => ({
        key: String(tasks.task[row]),
        begin: ns(tasks.begin[row]!),
        end: ns(endOf(tasks, row)),
        label: labelOf(tasks, row),
        text: by === 'status' ? String(tasks.task[row]) : '',
        className: levels[level(row)]!.className,
        href: linkWith({ sel: String(tasks.task[row]) }),
        chosen: String(tasks.task[row]) === chosen,
      })),
  }))
}

/** Colours of classes are the theme's: what style.css has as --bar-CLASS. */
function paintTasks(context: CanvasRenderingContext2D, tasks: StageTasks, laid: LaidTasks, by: ColouredBy): void {
  const [width, rowHeight] = [context.canvas.clientWidth - LEFT, laid.rowHeight]
  const least = (laid.end / width) * Math.max(2, (laid.rows.length * width) / MOST_RECTANGLES)
  const levels = levelsOf(tasks, by)
  const paths = levels.map(() => new Path2D())
  const level = levelOf(tasks, by)
  const high = rowHeight - (rowHeight > 4 ? 1 : 0)
  laid.rows.forEach((one, i) => {
    for (const run of runsOf(tasks, one, least, level)) {
      const wide = Math.max(1, ((run.end - run.begin) / laid.end) * width - 0.4)
      paths[run.level]!.rect(LEFT + (run.begin / laid.end) * width, i * rowHeight, wide, high)
    }
  })
  levels.forEach((one, i) => {
    context.fillStyle = colour(`bar-${one.className}`)
    context.fill(paths[i]!)
  })
}

function paintNames(context: CanvasRenderingContext2D, tasks: StageTasks, laid: LaidTasks): void {
  const { rows, rowHeight } = laid
  context.fillStyle = colour('text-soft')
  context.textAlign = 'right'
  let free = 0
  rows.forEach((one, i) => {
    if (rows[i - 1]?.executor === one.executor || i * rowHeight < free) return
    context.fillText(nameOf(tasks, one.executor), LEFT - 10, i * rowHeight + 11, LEFT - 14)
    free = i * rowHeight + 14
  })
}

function paintAxis(context: CanvasRenderingContext2D, tasks: StageTasks, laid: LaidTasks, height: number): void {
  const width = context.canvas.clientWidth - LEFT
  const since = tasks.head.begin_time_ns ?? 0n
  const { at, step } = ticks(since, since + BigInt(Math.ceil(laid.end)), Math.max(2, Math.floor(width / 100)))
  context.fillStyle = colour('text-soft')
  context.textAlign = 'center'
  for (const ns of at)
    context.fillText(axisTime(ns, zone.value, step), LEFT + (Number(ns - since) / laid.end) * width, height - 6)
}

function frame(context: CanvasRenderingContext2D, tasks: StageTasks, laid: LaidTasks, row: number): void {
  const [width, rowHeight] = [context.canvas.clientWidth - LEFT, laid.rowHeight]
  const at = laid.rows.findIndex((one) => one.tasks.includes(row))
  if (at < 0) return
  context.strokeStyle = colour('text')
  context.lineWidth = 2
  const [x, wide] = [(tasks.begin[row]! / laid.end) * width, (tasks.duration[row]! / laid.end) * width]
  context.strokeRect(LEFT + x - 1, at * rowHeight - 1, Math.max(4, wide + 2), rowHeight + 2)
}

function Drawn({ tasks, by }: { tasks: StageTasks; by: ColouredBy }): VNode {
  const laid = useMemo(() => layTasks(tasks, orderOf(tasks)), [tasks])
  const chosen = value('sel')
  const row = chosen === undefined ? -1 : tasks.task.indexOf(Number(chosen))
  const height = laid.rows.length * laid.rowHeight + BOTTOM
  const shownZone = zone.value
  const paint = useCallback<Painter>(
    (context, _, high) => {
      context.font = `11px ${getComputedStyle(document.body).fontFamily}`
      paintTasks(context, tasks, laid, by)
      paintNames(context, tasks, laid)
      paintAxis(context, tasks, laid, high)
      if (row >= 0) frame(context, tasks, laid, row)
    },
    [tasks, laid, by, row, shownZone],
  )
  const choose = (one: number | undefined): void => {
    if (one !== undefined) refine({ sel: String(tasks.task[one]) })
  }
  const onClick = (event: MouseEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const first = Math.floor((event.clientY - box.top) / laid.rowHeight) * laid.lanesOfRow
    const at = ((event.clientX - box.left - LEFT) / (box.width - LEFT)) * laid.end
    choose(taskIn(tasks, laid.lanes.slice(first, first + laid.lanesOfRow), at))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = moved(tasks, laid, row, event.key)
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  }
  return (
    <figure class="chart card">
      <Canvas
        height={height}
        paint={paint}
        tabIndex={0}
        role="application"
        aria-label={t('Tasks of executors over time: arrow keys go from task to task, the line below tells it')}
        onClick={onClick}
        onKeyDown={onKeyDown}
      />
      <figcaption class="quiet-text" aria-live="polite">
        {row < 0
          ? t('{tasks} tasks; a click chooses one.', { tasks: count(tasks.rows) })
          : `${nameOf(tasks, tasks.executor[row]!)}: ${labelOf(tasks, row)}`}
        {laid.lanesOfRow > 1 && ` ${t('A row has {lanes} lanes.', { lanes: laid.lanesOfRow })}`}
      </figcaption>
    </figure>
  )
}

/** Along a lane, or to the same time in the one above or below. */
function moved(tasks: StageTasks, laid: LaidTasks, row: number, key: string): number | undefined {
  const along = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
  const across = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  if (along === 0 && across === 0) return undefined
  const at = laid.lanes.findIndex((lane) => lane.tasks.includes(row))
  if (at < 0) return laid.lanes[0]?.tasks[0]
  const lane = laid.lanes[at + across]
  if (along !== 0) return laid.lanes[at]!.tasks[laid.lanes[at]!.tasks.indexOf(row) + along]
  return lane && taskIn(tasks, [lane], tasks.begin[row]! + tasks.duration[row]! / 2)
}

function Legend({ tasks, by }: { tasks: StageTasks; by: ColouredBy }): VNode {
  const levels = levelsOf(tasks, by)
  const counts = useMemo(() => {
    const level = levelOf(tasks, by)
    const found = new Array<number>(levels.length).fill(0)
    for (let row = 0; row < tasks.rows; row++) found[level(row)]!++
    return found
  }, [tasks, by])
  return (
    <p class="legend-line quiet-text">
      {levels.map(
        (level, i) =>
          counts[i]! > 0 && (
            <span key={level.className} class="legend-item">
              <span class={`swatch ${level.className}`} aria-hidden="true" /> {level.label} {count(counts[i]!)}
            </span>
          ),
      )}
    </p>
  )
}

function dataOf(tasks: StageTasks): ChartData {
  return {
    head: [t('lane'), t('what')],
    unit: '',
    rows: Array.from(tasks.task, (_, row) => [nameOf(tasks, tasks.executor[row]!), labelOf(tasks, row)]),
    write: String,
  }
}

export function TaskLanes({ tasks, by }: { tasks: StageTasks; by: ColouredBy }): VNode {
  const label = t('Tasks of each executor over time')
  return (
    <>
      <Legend tasks={tasks} by={by} />
      {tasks.rows > LISTED ? (
        <Exported name={label} data={() => dataOf(tasks)}>
          <Drawn tasks={tasks} by={by} />
        </Exported>
      ) : (
        <Lanes label={label} groups={groupsOf(tasks, by)} />
      )}
    </>
  )
}
