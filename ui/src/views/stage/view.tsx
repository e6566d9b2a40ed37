// Which tasks of a stage were slow, and why?

import type { VNode } from 'preact'
import type { Straggler, TaskRow, TasksAnswer, WhyAnswer } from '../../api/spark.ts'
import { linkTo, linkWith, route, value } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { Suspects } from '../../parts/cause.tsx'
import { Lanes, type Group, type LaneBar } from '../../parts/lanes.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { bytes, count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { TaskPanel } from './panel.tsx'

const TASKS = '2000'
const STRAGGLERS = '500'
const SLOW_TIMES = 1.5
const BAD = new Set(['failed', 'killed', 'lost'])

function classOf(task: TaskRow): string {
  if (BAD.has(task.status)) return 'failed'
  if (task.status === 'running') return 'running'
  return (task.times_median ?? 0) >= SLOW_TIMES ? 'slow-bar' : 'fine'
}

function barOf(task: TaskRow, chosen: string | undefined): LaneBar[] {
  if (task.begin_time_ns === undefined || task.duration_ns === undefined) return []
  const times =
    task.times_median === undefined
      ? ''
      : t(', {timesMedian} times the median', { timesMedian: task.times_median.toFixed(1) })
  return [
    {
      key: String(task.task),
      begin: task.begin_time_ns,
      end: task.begin_time_ns + BigInt(Math.round(task.duration_ns)),
      label: t('task {task}, {status}: {duration}{times}', {
        task: task.task,
        status: word(task.status),
        duration: duration(task.duration_ns),
        times,
      }),
      text: String(task.task),
      className: classOf(task),
      href: linkWith({ sel: String(task.task) }),
      chosen: String(task.task) === chosen,
    },
  ]
}

function groupsOf(tasks: readonly TaskRow[], chosen: string | undefined): Group[] {
  const groups = new Map<string, LaneBar[]>()
  for (const task of tasks) {
    const name = `${visible(task.host ?? '')} · ${visible(task.executor ?? '')}`
    groups.set(name, [...(groups.get(name) ?? []), ...barOf(task, chosen)])
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b)).map(([name, bars]) => ({ name, bars }))
}

function columnsOf(causes: ReadonlyMap<number, Straggler>): Column<TaskRow>[] {
  return [
    {
      key: 'task',
      head: t('task'),
      text: true,
      cell: (row) => <a href={linkWith({ sel: String(row.task) })}>{row.task}</a>,
    },
    { key: 'status', head: t('status'), text: true, cell: (row) => word(row.status) },
    { key: 'host', head: t('host'), text: true, cell: (row) => visible(row.host ?? '') },
    { key: 'executor', head: t('executor'), text: true, cell: (row) => visible(row.executor ?? '') },
    { key: 'locality', head: t('locality'), text: true, cell: (row) => visible(row.locality ?? '') },
    {
      key: 'duration',
      head: t('duration'),
      sort: 'duration',
      cell: (row) => (row.duration_ns === undefined ? '-' : duration(row.duration_ns)),
    },
    {
      key: 'times',
      head: t('of the median'),
      cell: (row) => (row.times_median === undefined ? '-' : `× ${row.times_median.toFixed(2)}`),
    },
    { key: 'gc', head: 'GC', sort: 'gc', cell: (row) => duration((row.metrics?.gcMs ?? 0) * 1e6, 1e6) },
    { key: 'input', head: t('input'), sort: 'input', cell: (row) => bytes(row.metrics?.inputBytes ?? 0) },
    {
      key: 'cause',
      head: t('main cause'),
      text: true,
      cell: (row) => visible(causes.get(row.task)?.main_cause?.topic ?? ''),
    },
  ]
}

function Tasks({ answer, why }: { answer: TasksAnswer; why: WhyAnswer | undefined }): VNode {
  const chosen = value('sel')
  const causes = new Map(why?.stragglers.map((one) => [one.task, one]))
  const task = answer.tasks.find((one) => String(one.task) === chosen)
  return (
    <>
      <Lanes label={t('Tasks of each executor over time')} groups={groupsOf(answer.tasks, chosen)} />
      {answer.more === true && (
        <p class="more">
          {tx('The first {tasks} of {fittingTasks} tasks.', {
            tasks: count(answer.tasks.length),
            fittingTasks: count(answer.fitting_tasks),
          })}
        </p>
      )}
      <div class={task === undefined ? '' : 'beside trace'}>
        <Table label={t('Tasks')} columns={columnsOf(causes)} rows={answer.tasks} rowKey={(row) => String(row.task)} />
        {task !== undefined && <TaskPanel task={task} straggler={causes.get(task.task)} />}
      </div>
    </>
  )
}

export function StageView(): VNode {
  const app = route.value.id
  const stage = value('stage')
  const parameters = { app, stage, sort: value('sort'), limit: TASKS }
  const whyAsked = { app, stage, limit: STRAGGLERS }
  const tasks = useQuestion<TasksAnswer>('tasks', parameters)
  const why = useQuestion<WhyAnswer>('why', whyAsked)
  return (
    <View
      title={t('Stage {stage}', { stage: stage ?? '' })}
      question={t('Which tasks were slow, and why?')}
      sentence={
        why.data && (
          <>
            {tx(
              '{stragglersTotal} {more} took 1.5 times the median or more; {explained} have a cause. Application {app}.',
              {
                stragglersTotal: count(why.data.stragglers_total),
                more: why.data.stragglers_total === 1 ? t('task') : t('tasks'),
                explained: count(why.data.explained),
                app: <a href={linkTo('app', app)}>{visible(app)}</a>,
              },
            )}
          </>
        )
      }
      tools={
        <a class="button" href={linkTo('operations', app, { stage })}>
          {t('Its operations')}
        </a>
      }
      asked={[
        { question: 'tasks', parameters },
        { question: 'why', parameters: whyAsked },
      ]}
    >
      {why.data && <Suspects suspects={why.data.suspects} />}
      <Shown answer={tasks} lines={14}>
        {(data) => <Tasks answer={data} why={why.data} />}
      </Shown>
    </View>
  )
}
