// What ran in one application, and what held it?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Mark, MarksAnswer } from '../../api/marks.ts'
import type { AdviseAnswer, ExecutorsAnswer, JobsAnswer, StageRow, StagesAnswer, WhyAnswer } from '../../api/spark.ts'
import { linkTo, linkToTask, route } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Bar } from '../../parts/bits.tsx'
import { Cause, SuspectLink, Suspects } from '../../parts/cause.tsx'
import { Lanes, type Group, type LaneBar } from '../../parts/lanes.tsx'
import { groupsOfMarks } from '../../parts/marks.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { bytes, count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { Advice } from './advice.tsx'
import { Executors, executorBars } from './executors.tsx'
import { HostsOfApp, chosenHost, hostsOf, samplesAsked, whileItRan } from './hosts.tsx'
import { Jobs } from './jobs.tsx'

const STRAGGLERS = '50'
const ASKED_OF_APP: readonly string[] = Object.keys({ stages: 0, jobs: 0, executors: 0, advise: 0 })
/** More of them are not told apart over time. */
const JOBS_DRAWN = 12
const STATES: Readonly<Record<string, string>> = {
  running: t('is running'),
  silent: t('is silent: its log has no end, and nothing new'),
  ended: t('has ended'),
  'cut off': t('was cut off'),
  unknown: t('left records, but no log'),
}

const stageKey = (row: { stage: number; attempt: number }): string => `${row.stage}.${row.attempt}`
const stageLink = (app: string, row: StageRow): string => linkTo('stage', app, { stage: stageKey(row) })

function barsOf(answer: StagesAnswer, rows: readonly StageRow[]): LaneBar[] {
  return rows.flatMap((row): LaneBar[] => {
    if (row.begin_time_ns === undefined || row.duration_ns === undefined) return []
    const stragglers = row.stragglers ?? 0
    const text = `${stageKey(row)}${stragglers > 0 ? t(' · {stragglers} slow', { stragglers }) : ''}`
    return [
      {
        key: stageKey(row),
        begin: row.begin_time_ns,
        end: row.begin_time_ns + BigInt(Math.round(row.duration_ns)),
        label: t('stage {text}: {state}, {duration}, {tasks} tasks', {
          text,
          state: word(row.state),
          duration: duration(row.duration_ns),
          tasks: row.tasks,
        }),
        text,
        className: row.state === 'failed' ? 'failed' : stragglers > 0 ? 'slow-bar' : 'fine',
        href: stageLink(answer.app, row),
        chosen: false,
      },
    ]
  })
}

/** A group for each job, and one of the executors. */
function groupsOf(answer: StagesAnswer, jobs: JobsAnswer | undefined, executors: ExecutorsAnswer | undefined): Group[] {
  const drawn = jobs === undefined || jobs.jobs.length > JOBS_DRAWN ? [] : jobs.jobs
  const jobOf = new Map(drawn.flatMap((job) => job.stages.map((stage) => [stage, job.job] as const)))
  const rowsOf = (job: number | undefined): StageRow[] => answer.stages.filter((row) => jobOf.get(row.stage) === job)
  const groups = drawn.map((job) => ({ name: t('job {job}', { job: job.job }), bars: barsOf(answer, rowsOf(job.job)) }))
  const others = { name: drawn.length > 0 ? t('other stages') : t('stages'), bars: barsOf(answer, rowsOf(undefined)) }
  const lived = { name: t('executors'), bars: executorBars(executors?.executors ?? []) }
  return [...groups, others, lived].filter((group) => group.bars.length > 0)
}

function columnsOf(answer: StagesAnswer): Column<StageRow>[] {
  const longest = Math.max(1, ...answer.stages.map((row) => row.duration_ns ?? 0))
  const time = (ns: number | undefined): string => (ns === undefined ? '-' : duration(ns))
  const query: Column<StageRow> = {
    key: 'query',
    head: t('query'),
    text: true,
    cell: (row) => (row.query === undefined ? '' : <bdi title={visible(row.query_name ?? '')}>{row.query}</bdi>),
  }
  return [
    {
      key: 'stage',
      head: t('stage'),
      text: true,
      cell: (row) => (
        <a href={stageLink(answer.app, row)}>
          {stageKey(row)} {visible(row.name ?? '')}
        </a>
      ),
    },
    { key: 'state', head: t('state'), text: true, cell: (row) => word(row.state) },
    {
      key: 'duration',
      head: t('duration'),
      cell: (row) => (
        <Bar part={row.duration_ns ?? 0} whole={longest}>
          {time(row.duration_ns)}
        </Bar>
      ),
    },
    { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
    { key: 'median', head: t('median'), cell: (row) => time(row.median_ns) },
    { key: 'p95', head: '95 %', cell: (row) => time(row.p95_ns) },
    { key: 'max', head: t('most'), cell: (row) => time(row.max_ns) },
    { key: 'stragglers', head: t('stragglers'), cell: (row) => count(row.stragglers ?? 0) },
    { key: 'input', head: t('input'), cell: (row) => bytes(row.input_bytes ?? 0) },
    {
      key: 'shuffle',
      head: t('shuffle'),
      cell: (row) => bytes((row.shuffle_read_bytes ?? 0) + (row.shuffle_write_bytes ?? 0)),
    },
    ...(answer.stages.some((row) => row.query !== undefined) ? [query] : []),
  ]
}

function Why({ answer }: { answer: WhyAnswer }): VNode {
  if (answer.stragglers_total === 0) return <p>{t('No task took 1.5 times the median of its stage or more.')}</p>
  return (
    <>
      <p>
        {tx('{stragglersTotal} of {tasks} tasks were slow, {explained} of them with a cause.', {
          stragglersTotal: count(answer.stragglers_total),
          tasks: count(answer.tasks),
          explained: share(answer.explained, answer.stragglers_total),
        })}
      </p>
      <Suspects suspects={answer.suspects} />
      <ul class="suspects">
        {answer.stragglers.map((one) => (
          <li key={one.task}>
            {tx('{stage}: {duration}, {scale} times the median.', {
              stage: (
                <a href={linkToTask(answer.app, one)}>
                  {tx('stage {stage}.{stageAttempt}, task {task}', {
                    stage: one.stage,
                    stageAttempt: one.stage_attempt,
                    task: one.task,
                  })}
                </a>
              ),
              duration: duration(one.duration_ns),
              scale: one.scale.toFixed(1),
            })}{' '}
            <Cause straggler={one} />
          </li>
        ))}
      </ul>
      {answer.more === true && (
        <p class="more">
          {tx('The {stragglers} that lost most time.', { stragglers: count(answer.stragglers.length) })}
        </p>
      )}
    </>
  )
}

function held(why: WhyAnswer | undefined): VNode | undefined {
  const most = why?.suspects[0]
  if (most?.explains_ns === undefined || most.tasks === undefined) return undefined
  return (
    <>
      {' '}
      {tx('What held it most: {suspect}, for which {tasks} waited {explains} longer in all.', {
        suspect: <SuspectLink suspect={most} />,
        tasks: most.tasks === 1 ? t('one task') : t('{tasks} tasks', { tasks: count(most.tasks) }),
        explains: duration(most.explains_ns),
      })}
    </>
  )
}

function sentence(answer: StagesAnswer | undefined, why: WhyAnswer | undefined): VNode | undefined {
  if (answer === undefined) return undefined
  return (
    <>
      {tx('{name} {state}{more}{more2}, in {stages} stages{more3}.', {
        name: <b>{visible(answer.name ?? answer.id)}</b>,
        state: STATES[answer.state] ?? answer.state,
        more: answer.duration_ns !== undefined && t(', took {duration}', { duration: duration(answer.duration_ns) }),
        more2:
          answer.begin_time_ns !== undefined &&
          t(' from {beginTime} {zoneName}', {
            beginTime: dayTime(answer.begin_time_ns, zone.value),
            zoneName: zoneName(),
          }),
        stages: count(answer.stages.length),
        more3:
          answer.spark_version !== undefined &&
          t(' on Spark {sparkVersion}', { sparkVersion: visible(answer.spark_version) }),
      })}
      {held(why)}
    </>
  )
}

interface OverTimeProps {
  readonly answer: StagesAnswer
  readonly jobs: JobsAnswer | undefined
  readonly executors: ExecutorsAnswer | undefined
  readonly marks: readonly Mark[]
}

function OverTime({ answer, jobs, executors, marks }: OverTimeProps): VNode {
  const ran = whileItRan(answer)
  const groups = [...groupsOfMarks(marks), ...groupsOf(answer, jobs, executors)]
  return (
    <>
      <Lanes
        label={t('Stages over time')}
        groups={groups}
        {...(ran && { period: { since: BigInt(ran.since), until: BigInt(ran.until) } })}
      />
      <Table label={t('Stages')} columns={columnsOf(answer)} rows={answer.stages} rowKey={stageKey} />
    </>
  )
}

export function AppView(): VNode {
  const app = route.value.id
  const stages = useQuestion<StagesAnswer>('stages', { app })
  const whyAsked = { app, limit: STRAGGLERS }
  const why = useQuestion<WhyAnswer>('why', whyAsked)
  const jobs = useQuestion<JobsAnswer>('jobs', { app })
  const executors = useQuestion<ExecutorsAnswer>('executors', { app })
  const advice = useQuestion<AdviseAnswer>('advise', { app })
  const hosts = useMemo(
    () => (why.data === undefined || executors.data === undefined ? [] : hostsOf(executors.data, why.data)),
    [why.data, executors.data],
  )
  const host = chosenHost(hosts)
  const samples = stages.data && host && samplesAsked(stages.data, host.host)
  const ran = stages.data && whileItRan(stages.data)
  const marks = useQuestion<MarksAnswer>('marks', ran ?? null)
  const done = marks.data?.marks ?? []
  return (
    <View
      title={t('Application {app}', { app })}
      question={t('What ran, and what held it?')}
      sentence={sentence(stages.data, why.data)}
      asked={[
        ...ASKED_OF_APP.map((question) => ({ question, parameters: { app } })),
        { question: 'why', parameters: whyAsked },
        ...(ran === undefined ? [] : [{ question: 'marks', parameters: ran }]),
        ...(samples === undefined ? [] : [{ question: 'samples', parameters: samples }]),
      ]}
      tools={
        <a class="button" href={linkTo('operations', app)}>
          {t('Its operations')}
        </a>
      }
    >
      <Shown answer={stages} lines={10}>
        {(data) => <OverTime answer={data} jobs={jobs.data} executors={executors.data} marks={done} />}
      </Shown>
      <h2>{t('What held it')}</h2>
      <Shown answer={why} lines={4}>
        {(data) => <Why answer={data} />}
      </Shown>
      <h2>{t('What to change')}</h2>
      <Shown answer={advice} lines={4}>
        {(data) => <Advice answer={data} />}
      </Shown>
      {stages.data !== undefined && hosts.length > 0 && (
        <>
          <h2>{t('Hosts')}</h2>
          <HostsOfApp app={stages.data} hosts={hosts} marks={done} />
        </>
      )}
      <h2>{t('Jobs')}</h2>
      <Shown answer={jobs} lines={3}>
        {(data) => <Jobs answer={data} />}
      </Shown>
      <h2>{t('Executors')}</h2>
      <Shown answer={executors} lines={3}>
        {(data) => <Executors answer={data} />}
      </Shown>
    </View>
  )
}
