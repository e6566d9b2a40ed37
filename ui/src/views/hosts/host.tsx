// One host: since when it is slow and at what, its functions against what is predicted, who waited for it.

import type { ComponentChildren, VNode } from 'preact'
import type { MarksAnswer } from '../../api/marks.ts'
import type { HostsAnswer, NodesAnswer, SendersAnswer, SkewAnswer, WaitedTask } from '../../api/hosts.ts'
import { go, linkTo, linkToTask, route, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion, useQuestionOnce } from '../../app/question.ts'
import type { Band } from '../../marks/bands.tsx'
import { Curve, type Line } from '../../marks/curve.tsx'
import { FunctionLink, Opener } from '../../parts/bits.tsx'
import { curveData } from '../../parts/data-of.ts'
import { Exported } from '../../parts/export.tsx'
import { spellText } from '../../parts/spell.ts'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { bandsOf } from '../../parts/marks.tsx'
import { View, type Asked } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { bytes, count, duration, durationSigned } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { Learned, classColumns, isLearned } from './list.tsx'
import { Samples, samplesAsked } from './samples.tsx'
import { SpellCard } from './spells.tsx'

const MINUTE_NS = 60e9
const TASKS = '50'
const times = (value: number): string => `× ${Number(value.toPrecision(3))}`

type FunctionRow = NonNullable<NodesAnswer['functions']>[number]

const FUNCTIONS: readonly Column<FunctionRow>[] = [
  {
    key: 'function',
    head: t('function'),
    text: true,
    cell: (row) => <FunctionLink of={row} />,
  },
  { key: 'class', head: t('class of work'), text: true, cell: (row) => row.class },
  {
    key: 'size',
    head: t('size'),
    cell: (row) => (row.size_bytes === undefined ? '-' : t('from {sizeBytes}', { sizeBytes: bytes(row.size_bytes) })),
  },
  { key: 'calls', head: t('calls'), cell: (row) => count(row.calls) },
  { key: 'predicted', head: t('predicted'), cell: (row) => duration(row.predicted_ns) },
  { key: 'seen', head: t('seen'), cell: (row) => duration(row.seen_ns) },
  {
    key: 'slowdown',
    head: t('× predicted'),
    cell: (row) => <span class={row.slowdown >= 1.5 ? 'warn-text' : ''}>{row.slowdown.toFixed(2)}</span>,
  },
]

const TASK_COLUMNS: readonly Column<WaitedTask>[] = [
  {
    key: 'task',
    head: t('task'),
    text: true,
    cell: (row) => (
      <a href={linkToTask(row.app, row)}>
        {tx('{task} of stage {stage}.{stageAttempt}', {
          task: row.task,
          stage: row.stage,
          stageAttempt: row.stage_attempt,
        })}
      </a>
    ),
  },
  {
    key: 'app',
    head: t('application'),
    text: true,
    cell: (row) => <a href={linkTo('app', row.app)}>{visible(row.app)}</a>,
  },
  { key: 'host', head: t('ran on'), text: true, cell: (row) => visible(row.host ?? '') },
  { key: 'begin', head: t('begin'), cell: (row) => dayTime(row.begin_time_ns, zone.value, 3) },
  { key: 'duration', head: t('duration'), cell: (row) => duration(row.duration_ns) },
  { key: 'scale', head: t('of the median'), cell: (row) => `× ${row.scale.toFixed(2)}` },
  { key: 'explains', head: t('slower by this host'), cell: (row) => duration(row.explains_ns) },
  { key: 'resource', head: t('waited for its'), text: true, cell: (row) => word(row.suspect.resource) },
  {
    key: 'trace',
    head: t('calls'),
    text: true,
    cell: (row) => (
      <a href={linkTo('trace', row.trace)}>
        <code>{row.trace}</code>
      </a>
    ),
  },
]

function Timeline({ answer, bands }: { answer: NodesAnswer; bands: readonly Band[] }): VNode {
  const classes = (answer.timeline ?? []).filter((one) => one.points.length > 0)
  if (classes.length === 0) return <></>
  const lines = classes.map((one, i): Line => {
    const points = one.points.map((point) => ({ time: point.time_ns, value: point.slowdown }))
    return { label: one.class, className: `line-${i % 6}`, points, bad: points.filter((_, at) => one.points[at]!.bad) }
  })
  const label = t('How long calls took, of what was predicted, by class of work')
  return (
    <Exported name={label} data={() => curveData(lines, '×', times)}>
      <Curve
        lines={lines}
        since={answer.since_time_ns ?? 0n}
        until={answer.until_time_ns ?? 1n}
        stepNs={5 * MINUTE_NS}
        write={times}
        usual={{ value: 1, label: t('as predicted') }}
        least={2}
        bands={bands}
        choosesPeriod
        label={label}
      />
    </Exported>
  )
}

function Tasks({ answer, host }: { answer: HostsAnswer; host: string }): VNode {
  const tasks = answer.tasks ?? []
  if (tasks.length === 0)
    return <p class="more">{tx('No slow task of Spark waited for {host}.', { host: visible(host) })}</p>
  return <Table label={t('Tasks')} columns={TASK_COLUMNS} rows={tasks} rowKey={(row) => `${row.app} ${row.task}`} />
}

/** Asked only once it is opened: the address keeps which. */
function Part(props: { name: string; title: string; children: ComponentChildren }): VNode {
  const open = value('open') === props.name
  return (
    <section class="card">
      <Opener open={open} turn={() => go({ open: open ? undefined : props.name })}>
        <h2>{props.title}</h2>
      </Opener>
      {open && props.children}
    </section>
  )
}

function Clock({ host }: { host: string }): VNode {
  const answer = useQuestionOnce<SkewAnswer>('skew', { ...askedPeriod() })
  return (
    <Shown answer={answer} lines={3}>
      {(data) => {
        const pairs = data.pairs.filter((pair) => pair.from === host || pair.to === host)
        if (pairs.length === 0)
          return (
            <p class="more">{tx('No call of the {traces} newest traces tells.', { traces: count(data.traces) })}</p>
          )
        return (
          <Table
            label={t('Clock offsets')}
            columns={[
              { key: 'from', head: t('from'), text: true, cell: (row) => visible(row.from) },
              { key: 'to', head: t('to'), text: true, cell: (row) => visible(row.to) },
              { key: 'offset', head: t('offset'), cell: (row) => durationSigned(row.offset_ns) },
              { key: 'uncertainty', head: t('wrong by at most'), cell: (row) => duration(row.uncertainty_ns) },
              { key: 'samples', head: t('calls'), cell: (row) => count(row.samples) },
            ]}
            rows={pairs}
            rowKey={(row) => `${row.from} ${row.to}`}
          />
        )
      }}
    </Shown>
  )
}

function Senders({ host }: { host: string }): VNode {
  const answer = useQuestion<SendersAnswer>('senders', {})
  return (
    <Shown answer={answer} lines={3}>
      {(data) => (
        <Table
          label={t('Senders')}
          columns={[
            { key: 'sender', head: t('process'), text: true, cell: (row) => visible(row.sender) },
            { key: 'received', head: t('spans received'), cell: (row) => count(row.received) },
            { key: 'stored', head: t('stored'), cell: (row) => count(row.stored) },
          ]}
          rows={data.senders.filter((row) => row.sender.split('/').includes(host))}
          rowKey={(row) => row.sender}
        />
      )}
    </Shown>
  )
}

function About({ answer, bands }: { answer: NodesAnswer; bands: readonly Band[] }): VNode {
  return (
    <>
      {answer.spells.map((spell) => (
        <SpellCard key={`${spell.class} ${spell.begin_time_ns}`} spell={spell} here />
      ))}
      <h2>{t('How long calls took, of what was predicted')}</h2>
      <Timeline answer={answer} bands={bands} />
      <Table label={t('Classes of work')} columns={classColumns} rows={answer.nodes} rowKey={(row) => row.class} />
      <h2>{t('Its functions')}</h2>
      <Table
        label={t('Functions')}
        columns={FUNCTIONS}
        rows={answer.functions ?? []}
        rowKey={(row) => `${row.function} ${row.role} ${row.size_bytes ?? 0}`}
      />
      <Learned answer={answer} />
    </>
  )
}

const asUsual = (answer: NodesAnswer): string =>
  isLearned(answer) ? t('It is as fast as it usually is.') : t('It is still being learned what is usual for it.')

export function OneHost(): VNode {
  const host = route.value.id
  const parameters = { host, ...askedPeriod() }
  const nodes = useQuestion<NodesAnswer>('nodes', parameters)
  const tasksAsked = { host, limit: TASKS }
  const tasks = useQuestion<HostsAnswer>('hosts', tasksAsked)
  const marks = useQuestion<MarksAnswer>('marks', parameters)
  const bands = bandsOf(marks.data?.marks)
  const asked: Asked[] = [
    { question: 'nodes', parameters },
    { question: 'marks', parameters },
    { question: 'hosts', parameters: tasksAsked },
    { question: 'samples', parameters: samplesAsked(host) },
    ...(value('open') === 'clock' ? [{ question: 'skew', parameters: { ...askedPeriod() } }] : []),
    ...(value('open') === 'senders' ? [{ question: 'senders', parameters: {} }] : []),
  ]
  const worst = nodes.data?.spells[0]
  return (
    <View
      title={visible(host)}
      question={t('What is slow on this host, and what did it cost?')}
      {...(nodes.data === undefined
        ? {}
        : {
            sentence: worst === undefined ? asUsual(nodes.data) : t('Its {worst}.', { worst: spellText(worst) }),
          })}
      asked={asked}
      tools={
        <>
          <a class="button" href={linkTo('functions', '', { host })}>
            {t('All its calls')}
          </a>
          <a class="button" href={linkTo('traces', '', { host, sort: 'duration_ns' })}>
            {t('Its slowest traces')}
          </a>
          <a class="button" href={linkTo('diff', '', { host })}>
            {t('What changed')}
          </a>
        </>
      }
    >
      <Shown answer={nodes} lines={12}>
        {(data) => <About answer={data} bands={bands} />}
      </Shown>
      {nodes.unknown === true && (
        <p class="buttons">
          <a class="button" href={linkTo('hosts')}>
            {t('All hosts')}
          </a>
        </p>
      )}
      <h2>{t('Processor, disk, network')}</h2>
      <Samples host={host} bands={bands} />
      <h2>{t('Slow tasks of Spark that waited for it')}</h2>
      <Shown answer={tasks} lines={3}>
        {(data) => <Tasks answer={data} host={host} />}
      </Shown>
      <Part name="clock" title={t('How its clock differs from others')}>
        <Clock host={host} />
      </Part>
      <Part name="senders" title={t('Its processes, and what came of them')}>
        <Senders host={host} />
      </Part>
    </View>
  )
}
