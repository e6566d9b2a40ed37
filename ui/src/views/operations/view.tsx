// Which operations of Spark waste time?

import type { VNode } from 'preact'
import type {
  OperationRow,
  OperationsAnswer,
  PipelinesAnswer,
  StageOperations,
  TopInstance,
} from '../../api/operations.ts'
import { go, linkTo, linkWith, route, value } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { Bar, Choice, Opener } from '../../parts/bits.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View, type Asked } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { count, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Clusters } from './clusters.tsx'
import { Pipelines, Swatch, msText, operationName } from './pipelines.tsx'

const INSTANCES = '40'
const PIPELINES = '30'

const keyOf = (of: StageOperations): string => `${of.stage}.${of.stage_attempt}`

function operationColumns(of: StageOperations): Column<OperationRow>[] {
  const numbers = new Map(of.operations.map((row, i) => [row, i]))
  return [
    {
      key: 'name',
      head: t('operation'),
      text: true,
      cell: (row) => (
        <>
          <Swatch number={numbers.get(row)!} /> {operationName(row)}
        </>
      ),
    },
    { key: 'site', head: t('called at'), text: true, cell: (row) => visible(row.call_site ?? '') },
    {
      key: 'share',
      head: t('share of the time'),
      cell: (row) => (
        <Bar part={row.share} whole={1}>
          {share(row.share, 1)}
        </Bar>
      ),
    },
    { key: 'mean', head: t('mean'), cell: (row) => msText(row.mean_ms) },
    { key: 'std', head: t('deviation'), cell: (row) => msText(row.std_ms) },
    { key: 'min', head: t('least'), cell: (row) => (row.min_ms === undefined ? '-' : msText(row.min_ms)) },
    { key: 'median', head: t('median'), cell: (row) => msText(row.median_ms) },
    { key: 'max', head: t('most'), cell: (row) => (row.max_ms === undefined ? '-' : msText(row.max_ms)) },
    { key: 'cv', head: 'cv', title: t('deviation / mean'), cell: (row) => row.cv.toFixed(2) },
    { key: 'instances', head: t('instances'), cell: (row) => count(row.instances) },
    { key: 'top', head: t('on top'), cell: (row) => count(row.top_instances) },
  ]
}

function treeOf(row: TopInstance): VNode | string {
  const tree = row.trees?.[0]
  if (tree === undefined) return ''
  return <a href={linkTo('trace', tree.trace)}>{t('its calls')}</a>
}

function instanceColumns(app: string, of: StageOperations): Column<TopInstance>[] {
  const most = Math.max(1e-9, ...of.top.map((row) => row.is_ms2))
  return [
    {
      key: 'task',
      head: t('task'),
      text: true,
      cell: (row) => <a href={linkTo('stage', app, { stage: keyOf(of), sel: String(row.task) })}>{row.task}</a>,
    },
    { key: 'name', head: t('operation'), text: true, cell: operationName },
    {
      key: 'host',
      head: t('host'),
      text: true,
      cell: (row) => (
        <a class="plain" href={linkTo('hosts', row.host)}>
          {visible(row.host)}
        </a>
      ),
    },
    { key: 'span', head: t('took'), cell: (row) => msText(row.span_ms) },
    { key: 'ss', head: t('of the median'), cell: (row) => `× ${row.ss.toFixed(2)}` },
    {
      key: 'is',
      head: t('score'),
      title: t('inefficiency score: long, in a long task, longer than the same operation elsewhere'),
      cell: (row) => (
        <Bar part={row.is_ms2} whole={most}>
          {row.is_ms2.toPrecision(3)}
        </Bar>
      ),
    },
    { key: 'records', head: t('records'), cell: (row) => (row.records === undefined ? '-' : count(row.records)) },
    { key: 'tree', head: 'HDFS', text: true, cell: treeOf },
  ]
}

/** How many of the instances on top each operation has: what the ranking is made of. */
function ByOperation({ of }: { of: StageOperations }): VNode {
  const parts = of.operations.map((row, i) => ({ row, i })).filter(({ row }) => row.top_instances > 0)
  return (
    <div
      class="flow"
      role="img"
      aria-label={parts.map(({ row }) => `${operationName(row)} ${row.top_instances}`).join(', ')}
    >
      {parts.map(({ row, i }) => (
        <span key={i} class={`op-${i % 6}`} style={{ flexGrow: row.top_instances }} title={operationName(row)} />
      ))}
    </div>
  )
}

function Opened({ app, of }: { app: string; of: StageOperations }): VNode {
  const pipelines = useQuestion<PipelinesAnswer>('pipelines', { app, stage: keyOf(of), limit: PIPELINES })
  return (
    <>
      <p>
        {of.coverage !== undefined &&
          t('Operations cover {coverage} of the run time. ', { coverage: share(of.coverage, 1) })}
        {of.tasks_not_read !== undefined &&
          t('The traces of {tasksNotRead} tasks were not read. ', { tasksNotRead: count(of.tasks_not_read) })}
        {of.source === 'agent' ? t('Told by the agent in the executors.') : t('Told by operation logs.')}
      </p>
      <Table
        label={t('Operations of stage {of}', { of: keyOf(of) })}
        columns={operationColumns(of)}
        rows={of.operations}
        rowKey={operationName}
      />
      <h3>{t('Its tasks, the longest first')}</h3>
      <Shown answer={pipelines} lines={6}>
        {(data) => <Pipelines answer={data} />}
      </Shown>
      <h3>
        {tx('The {topInstances} instances with the greatest scores, by operation', {
          topInstances: count(of.top_instances),
        })}
      </h3>
      <ByOperation of={of} />
      <Table
        label={t('Instances of stage {of}', { of: keyOf(of) })}
        columns={instanceColumns(app, of)}
        rows={of.top}
        rowKey={(row) => `${row.task} ${row.rdd ?? ''} ${row.span_ms}`}
      />
      <Clusters of={of} />
    </>
  )
}

function Stage({ app, of, open }: { app: string; of: StageOperations; open: boolean }): VNode {
  return (
    <section class={`card ${open ? 'open' : ''}`}>
      <header>
        <Opener open={open} turn={() => go({ open: open ? 'none' : keyOf(of) })}>
          <h2>{tx('Stage {of}', { of: keyOf(of) })}</h2>
        </Opener>
        <span class="mark">
          {of.pattern === 'none' ? t('no pattern') : t('pattern {pattern}', { pattern: of.pattern })}
        </span>
        <span>{of.meaning.replace(/^no pattern: /, '')}</span>
        <span class="amounts">
          {tx('{pipelines} tasks · {operations} operations', {
            pipelines: count(of.pipelines),
            operations: count(of.operations.length),
          })}
        </span>
        <a href={linkTo('stage', app, { stage: keyOf(of) })}>{t('tasks')}</a>
      </header>
      {open && <Opened app={app} of={of} />}
    </section>
  )
}

function sentence(answer: OperationsAnswer | undefined): VNode | undefined {
  const all = (answer?.stages ?? []).flatMap((of) => of.top.map((row) => ({ of, row })))
  if (all.length === 0) return undefined
  const { of, row } = all.reduce((a, b) => (b.row.is_ms2 > a.row.is_ms2 ? b : a))
  return (
    <>
      {tx('Most time is wasted by {row} in task {task} of stage {of}: {span}, {ss} times its median.', {
        row: <b>{operationName(row)}</b>,
        task: <a href={linkTo('stage', answer!.app, { stage: keyOf(of), sel: String(row.task) })}>{row.task}</a>,
        of: <a href={linkWith({ open: keyOf(of) })}>{keyOf(of)}</a>,
        span: msText(row.span_ms),
        ss: row.ss.toFixed(1),
      })}
    </>
  )
}

/** The stage that is open: at first the one that wastes most. */
function openOf(answer: OperationsAnswer): string | undefined {
  const score = (of: StageOperations): number => of.top[0]?.is_ms2 ?? 0
  const worst = answer.stages.reduce<StageOperations | undefined>(
    (a, b) => (a === undefined || score(b) > score(a) ? b : a),
    undefined,
  )
  return value('open') ?? value('stage') ?? (worst && keyOf(worst))
}

function Stages({ answer }: { answer: OperationsAnswer }): VNode {
  if (answer.stages.length === 0)
    return (
      <div class="empty">
        <h2>{t('No operations are recorded')}</h2>
        <p>
          {tx('The agent in the executors records them, or operation logs do ({link}).', {
            link: <code>docs/spark.md</code>,
          })}
        </p>
      </div>
    )
  const open = openOf(answer)
  return (
    <>
      {answer.stages.map((of) => (
        <Stage key={keyOf(of)} app={answer.app} of={of} open={open === keyOf(of)} />
      ))}
    </>
  )
}

export function OperationsView(): VNode {
  const app = route.value.id
  const parameters = { app, stage: value('stage'), top: value('top'), limit: INSTANCES }
  const answer = useQuestion<OperationsAnswer>('operations', parameters)
  const open = answer.data && openOf(answer.data)
  const asked: Asked[] = [{ question: 'operations', parameters }]
  if (open !== undefined && open !== 'none')
    asked.push({ question: 'pipelines', parameters: { app, stage: open, limit: PIPELINES } })
  return (
    <View
      title={t('Operations of {more}', { more: answer.data?.name === undefined ? app : visible(answer.data.name) })}
      question={t('Which operations waste time?')}
      sentence={sentence(answer.data)}
      asked={asked}
      tools={
        <>
          <Choice
            name="top"
            label={t('on top')}
            options={[
              ['', '10 %'],
              ['5%', '5 %'],
              ['25%', '25 %'],
            ]}
          />
          <a class="button" href={linkTo('app', app)}>
            {t('The application')}
          </a>
        </>
      }
    >
      <Shown answer={answer} lines={12}>
        {(data) => <Stages answer={data} />}
      </Shown>
    </View>
  )
}
