// Which tasks of a stage were slow, and why?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { askColumns } from '../../api/columns.ts'
import type { Straggler, StragglersAnswer, TaskRow, TasksAnswer, WhyAnswer } from '../../api/spark.ts'
import { linkTo, linkWith, route, value } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { Choice } from '../../parts/bits.tsx'
import { Suspects } from '../../parts/cause.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { bytes, count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { TaskLanes } from './lanes.tsx'
import { explainedBy, isDefault, thresholdsAsked, whyMethod } from './method.ts'
import { Found, MethodFields } from './method-fields.tsx'
import { TaskPanel } from './panel.tsx'
import { Spread } from './spread.tsx'
import { LISTED, stageTasks, withCauses, type ColouredBy, type StageHead, type StageTasks } from './tasks.ts'

const STRAGGLERS = '500'
const BY = [
  ['status', t('status')],
  ['cause', t('main cause')],
  ['duration', t('duration')],
] as const

const columnsRead = async (path: string, signal: AbortSignal): Promise<StageTasks> =>
  stageTasks(await askColumns<StageHead>(path, signal))

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
    {
      key: 'cause',
      head: t('main cause'),
      text: true,
      cell: (row) => word(causes.get(row.task)?.main_cause?.topic ?? ''),
    },
    { key: 'gc', head: 'GC', sort: 'gc', cell: (row) => duration((row.metrics?.gcMs ?? 0) * 1e6, 1e6) },
    { key: 'input', head: t('input'), sort: 'input', cell: (row) => bytes(row.metrics?.inputBytes ?? 0) },
    {
      key: 'shuffle',
      head: t('shuffle in'),
      cell: (row) => bytes((row.metrics?.shuffleRemoteBytes ?? 0) + (row.metrics?.shuffleLocalBytes ?? 0)),
    },
  ]
}

/** Of a stage with many tasks the chosen one may be none of those that are listed. */
function Unlisted({ app, causes }: { app: string; causes: ReadonlyMap<number, Straggler> }): VNode {
  const answer = useQuestion<TasksAnswer>('tasks', { app, stage: value('stage'), task: value('sel') })
  const task = answer.data?.tasks[0]
  return task === undefined ? <></> : <TaskPanel task={task} straggler={causes.get(task.task)} />
}

interface Explained {
  readonly answer: TasksAnswer
  readonly causes: ReadonlyMap<number, Straggler>
}

function Chosen({ answer, causes }: Explained): VNode {
  const task = answer.tasks.find((one) => String(one.task) === value('sel'))
  if (task !== undefined) return <TaskPanel task={task} straggler={causes.get(task.task)} />
  return <Unlisted app={answer.app} causes={causes} />
}

function Tasks({ answer, causes }: Explained): VNode {
  return (
    <>
      <Table label={t('Tasks')} columns={columnsOf(causes)} rows={answer.tasks} rowKey={(row) => String(row.task)} />
      {answer.more === true && (
        <p class="more">
          {tx('The first {tasks} of {fittingTasks} tasks.', {
            tasks: count(answer.tasks.length),
            fittingTasks: count(answer.fitting_tasks),
          })}
        </p>
      )}
    </>
  )
}

/** The topics of main causes by task. */
const topicsOf = (causes: ReadonlyMap<number, Straggler>): Map<number, string> =>
  new Map([...causes].flatMap(([task, one]) => (one.main_cause ? [[task, one.main_cause.topic] as const] : [])))

/** With causes as they were found: columns have those by default. */
function useColoured(tasks: StageTasks | undefined, causes: ReadonlyMap<number, Straggler>): StageTasks | undefined {
  return useMemo(
    () => (tasks === undefined || isDefault() ? tasks : withCauses(tasks, topicsOf(causes))),
    [tasks, causes, isDefault()],
  )
}

function sentence(why: WhyAnswer, app: string): VNode {
  return (
    <>
      {tx('{stragglersTotal} {more} took 1.5 times the median or more; {explained} have a cause. Application {app}.', {
        stragglersTotal: count(why.stragglers_total),
        more: why.stragglers_total === 1 ? t('task') : t('tasks'),
        explained: count(why.explained),
        app: <a href={linkTo('app', app)}>{visible(app)}</a>,
      })}
    </>
  )
}

/** What the view asks; parameters of `stragglers` are null while `why` says enough. */
function questionsOf(app: string, stage: string | undefined, by: ColouredBy) {
  const thresholds = thresholdsAsked()
  return {
    tasks: { app, stage, sort: value('sort'), limit: String(LISTED) },
    why: { app, stage, limit: STRAGGLERS, ...whyMethod() },
    found: thresholds === undefined ? null : { app, stage, limit: STRAGGLERS, ...thresholds },
    columns: { app, stage, ...(by === 'cause' && isDefault() ? { causes: 'true' } : {}) },
  }
}

export function StageView(): VNode {
  const app = route.value.id
  const stage = value('stage')
  const as = value('as')
  const by: ColouredBy = as === 'cause' || as === 'duration' ? as : 'status'
  const asked = questionsOf(app, stage, by)
  const tasks = useQuestion<TasksAnswer>('tasks', asked.tasks)
  const why = useQuestion<WhyAnswer>('why', asked.why)
  const found = useQuestion<StragglersAnswer>('stragglers', asked.found)
  const drawn = useQuestion<StageTasks>('tasks/columns', asked.columns, columnsRead)
  const foundThen = asked.found === null ? undefined : found.data
  const causes = useMemo(() => explainedBy(why.data, foundThen), [why.data, foundThen])
  const coloured = useColoured(drawn.data, causes)
  const listed = asked.found === null ? why.data : found.data
  const inPart = by === 'cause' && !isDefault() && listed?.more === true
  const chosen = value('sel') !== undefined
  return (
    <View
      title={t('Stage {stage}', { stage: stage ?? '' })}
      question={t('Which tasks were slow, and why?')}
      sentence={why.data && sentence(why.data, app)}
      tools={
        <>
          <Choice name="as" label={t('coloured by')} options={BY} />
          <a class="button" href={linkTo('operations', app, { stage })}>
            {t('Its operations')}
          </a>
        </>
      }
      asked={[
        { question: 'tasks', parameters: asked.tasks },
        { question: 'tasks/columns', parameters: asked.columns, command: false },
        { question: 'why', parameters: asked.why },
        ...(asked.found === null ? [] : [{ question: 'stragglers', parameters: asked.found }]),
      ]}
    >
      {why.data && <Suspects suspects={why.data.suspects} />}
      <MethodFields />
      {asked.found !== null && (
        <Shown answer={found} lines={1}>
          {(data) => <Found answer={data} />}
        </Shown>
      )}
      <div class={chosen ? 'stage-parts chosen' : 'stage-parts'}>
        <div class="stage-lanes">
          {inPart && (
            <p class="more">
              {t('Coloured are only the {stragglers} slow tasks that lost most time.', {
                stragglers: count(causes.size),
              })}
            </p>
          )}
          <Shown answer={drawn} lines={8}>
            {() => coloured && <TaskLanes tasks={coloured} by={by} />}
          </Shown>
        </div>
        {chosen && tasks.data !== undefined && <Chosen answer={tasks.data} causes={causes} />}
        <div class="stage-tasks">
          {coloured !== undefined && <Spread tasks={coloured} by={by} />}
          <Shown answer={tasks} lines={14}>
            {(data) => <Tasks answer={data} causes={causes} />}
          </Shown>
        </div>
      </div>
    </View>
  )
}
