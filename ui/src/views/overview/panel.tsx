// One cell of the map: what it is, how it is spread here and among all, and where to go on.

import type { VNode } from 'preact'
import type { Parameters } from '../../api/ask.ts'
import type { DistributionAnswer } from '../../api/answers.ts'
import type { HostsAnswer } from '../../api/hosts.ts'
import type { MapAnswer } from '../../api/series.ts'
import { linkTo, linkToTask } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { useQuestion, useQuestionOnce } from '../../app/question.ts'
import { Histogram, type Layer } from '../../marks/histogram.tsx'
import { Facts } from '../../parts/measure.tsx'
import { Shown } from '../../parts/states.tsx'
import { Sames } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { writeValue } from './fields.ts'
import { cellValue, layoutOf, timeOfStep, type Cell } from './layout.ts'

interface Shares {
  readonly calls: number
  readonly byEdge: ReadonlyMap<number, number>
}

function sharesOf(answer: DistributionAnswer): Shares {
  const byEdge = new Map<number, number>()
  let calls = 0
  for (const column of answer.columns) {
    calls += column.calls
    column.at.forEach((bin, i) => {
      const edge = answer.edges[bin]!
      byEdge.set(edge, (byEdge.get(edge) ?? 0) + column.counts[i]!)
    })
  }
  return { calls, byEdge }
}

function layer(label: string, className: string, edges: readonly number[], shares: Shares): Layer {
  return {
    label: `${label} (${count(shares.calls)})`,
    className,
    shares: edges.slice(0, -1).map((edge) => (shares.byEdge.get(edge) ?? 0) / Math.max(shares.calls, 1)),
  }
}

function Spread({ all, host, name }: { all: DistributionAnswer; host: DistributionAnswer; name: string }): VNode {
  const layers = [
    layer(t('all hosts'), 'layer-all', all.edges, sharesOf(all)),
    layer(name, 'layer-one', all.edges, sharesOf(host)),
  ]
  return (
    <Histogram
      edges={all.edges}
      layers={layers}
      write={(ns) => duration(ns).replace(/\.\d+/, '')}
      label={t('Durations of calls on {name} and on all hosts', { name })}
    />
  )
}

/** They are told by begin, of applications that ran in the step. */
const TASKS_ASKED = '500'
const TASKS_LISTED = 3

/** Slow tasks of Spark that waited for the host, of those that ran in this step. */
function WaitedThen({ asked, since, until }: { asked: Parameters; since: bigint; until: bigint }): VNode {
  const { data } = useQuestionOnce<HostsAnswer>('hosts', asked)
  const then = (data?.tasks ?? []).filter(
    (one) => one.begin_time_ns < until && one.begin_time_ns + BigInt(Math.round(one.duration_ns)) > since,
  )
  if (then.length === 0 && data?.more !== true) return <></>
  const tasks = count(then.length)
  return (
    <>
      <h4>
        {data?.more === true
          ? t('Slow tasks of Spark that waited for it then: at least {tasks}', { tasks })
          : t('Slow tasks of Spark that waited for it then: {tasks}', { tasks })}
      </h4>
      <ul class="suspects waited-then">
        {then.slice(0, TASKS_LISTED).map((one) => (
          <li key={`${one.app} ${one.task}`}>
            <a href={linkToTask(one.app, one)}>
              {tx('task {task} of stage {stage}.{stageAttempt}', {
                task: one.task,
                stage: one.stage,
                stageAttempt: one.stage_attempt,
              })}
            </a>
            {t(', {explains} slower by it', { explains: duration(one.explains_ns) })}
          </li>
        ))}
      </ul>
    </>
  )
}

export function CellPanel(props: { answer: MapAnswer; cell: Cell; function: string; role: string }): VNode {
  const { answer, cell, role } = props
  const row = answer.series[cell.row]!
  const host = row.host ?? ''
  const step = BigInt(answer.step_ns!)
  const since = timeOfStep(answer, cell.step)
  const period = { since: String(since), until: String(since + step) }
  const asked = { ...period, function: props.function, role }
  const waitedAsked = { host, ...period, limit: TASKS_ASKED }
  const all = useQuestion<DistributionAnswer>('distribution', asked)
  const here = useQuestion<DistributionAnswer>('distribution', { ...asked, host })
  const at = cellValue(row, cell.step)
  const median = layoutOf(answer).medians[cell.step]
  const facts: [string, string][] = [
    [t('here'), at === undefined ? t('no calls') : writeValue(answer.field, at.value)],
    [t('median of hosts'), median === undefined ? '-' : writeValue(answer.field, median)],
    [t('calls'), count(at?.calls ?? 0)],
    [t('times the peers'), row.ratio === undefined ? '-' : t('{ratio} in all', { ratio: row.ratio.toFixed(2) })],
  ]
  return (
    <section class="panel" aria-label={t('The cell that is chosen')}>
      <h2>{visible(host)}</h2>
      <p class="quiet-text">
        {tx('{function}, {since} to {more}', {
          function: visible(props.function),
          since: clockTime(since, zone.value),
          more: clockTime(since + step, zone.value),
        })}
      </p>
      <Facts facts={facts} />
      <Shown answer={all} lines={4}>
        {(everywhere) =>
          here.data === undefined ? null : <Spread all={everywhere} host={here.data} name={visible(host)} />
        }
      </Shown>
      <WaitedThen asked={waitedAsked} since={since} until={since + step} />
      <p class="buttons">
        <a
          class="button"
          href={linkTo('traces', '', { ...period, function: props.function, role, host, sort: 'duration_ns' })}
        >
          {t('Slowest traces here')}
        </a>
        <a class="button" href={linkTo('hosts', host)}>
          {t('This host')}
        </a>
        <a class="button" href={linkTo('diff', '', { ...period, host })}>
          {t('What changed')}
        </a>
        <a class="button" href={linkTo('forest', '', { host, ...period })}>
          {t('Call trees')}
        </a>
      </p>
      <div class="sames">
        <Sames
          asked={[
            { question: 'distribution', parameters: { ...asked, host } },
            { question: 'hosts', parameters: waitedAsked },
          ]}
        />
      </div>
    </section>
  )
}
