// The hosts of an application: how many of its slow tasks each had or held, and what it was like meanwhile.

import type { VNode } from 'preact'
import type { SamplesAnswer } from '../../api/hosts.ts'
import type { Mark } from '../../api/marks.ts'
import type { ExecutorsAnswer, StagesAnswer, Straggler, WhyAnswer } from '../../api/spark.ts'
import { linkTo, linkToTask, refine, value } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { Bar } from '../../parts/bits.tsx'
import { Lanes, type LaneBar } from '../../parts/lanes.tsx'
import { bandsOf, groupsOfMarks } from '../../parts/marks.tsx'
import { SampleCurves } from '../../parts/sample-curves.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

export interface HostOfApp {
  readonly host: string
  readonly executors: number
  readonly tasks: number
  /** Of those that are listed: on it, or waiting for it. */
  readonly stragglers: readonly Straggler[]
  readonly lostNs: number
}

const heldBy = (one: Straggler): string | undefined => one.main_cause?.suspect?.host

const isOf = (one: Straggler, host: string): boolean => one.host === host || heldBy(one) === host

/** Those that cost most first. */
export function hostsOf(executors: ExecutorsAnswer | undefined, why: WhyAnswer | undefined): HostOfApp[] {
  const stragglers = why?.stragglers ?? []
  const known = [
    ...(executors?.executors ?? []).map((row) => row.host),
    ...stragglers.flatMap((one) => [one.host, heldBy(one)]),
  ]
  const names = new Set(known.filter((host): host is string => host !== undefined && host !== ''))
  return [...names]
    .map((host) => {
      const rows = (executors?.executors ?? []).filter((row) => row.host === host)
      const mine = stragglers.filter((one) => isOf(one, host))
      return {
        host,
        executors: rows.length,
        tasks: rows.reduce((sum, row) => sum + row.tasks, 0),
        stragglers: mine,
        lostNs: mine.reduce((sum, one) => sum + Math.max(0, one.duration_ns - one.stage_median_ns), 0),
      }
    })
    .sort((a, b) => b.lostNs - a.lostNs || (a.host < b.host ? -1 : 1))
}

export const chosenHost = (hosts: readonly HostOfApp[]): HostOfApp | undefined =>
  hosts.find((one) => one.host === value('host')) ?? hosts[0]

/** When the application ran. */
export function whileItRan(app: StagesAnswer): { since: string; until: string } | undefined {
  if (app.begin_time_ns === undefined || app.duration_ns === undefined) return undefined
  return { since: String(app.begin_time_ns), until: String(app.begin_time_ns + BigInt(Math.round(app.duration_ns))) }
}

export function samplesAsked(app: StagesAnswer, host: string): Record<string, string> | undefined {
  const ran = whileItRan(app)
  return ran && { host, ...ran }
}

function columnsOf(hosts: readonly HostOfApp[], chosen: string): Column<HostOfApp>[] {
  const most = hosts[0]?.lostNs ?? 0
  return [
    {
      key: 'host',
      head: t('host'),
      text: true,
      cell: (row) => (
        <button
          type="button"
          class="plain"
          aria-pressed={row.host === chosen}
          onClick={() => refine({ host: row.host })}
        >
          {row.host === chosen ? <b>{visible(row.host)}</b> : visible(row.host)}
        </button>
      ),
    },
    { key: 'executors', head: t('executors'), cell: (row) => count(row.executors) },
    { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
    {
      key: 'slow',
      head: t('slow tasks'),
      title: t('that ran on it, or waited for it'),
      cell: (row) => count(row.stragglers.length),
    },
    {
      key: 'lost',
      head: t('lost'),
      title: t('above the medians of their stages'),
      cell: (row) => (
        <Bar part={row.lostNs} whole={most}>
          {duration(row.lostNs)}
        </Bar>
      ),
    },
  ]
}

function barsOf(app: string, row: HostOfApp): LaneBar[] {
  return row.stragglers.flatMap((one): LaneBar[] => {
    if (one.begin_time_ns === undefined) return []
    const topic = one.main_cause?.topic ?? t('no cause')
    const text = `× ${one.scale.toFixed(1)} ${topic}`
    return [
      {
        key: String(one.task),
        begin: one.begin_time_ns,
        end: one.begin_time_ns + BigInt(Math.round(one.duration_ns)),
        label: t('{text}: task {task} of stage {stage}.{stageAttempt} on {host}, {duration}, against the median', {
          text,
          task: one.task,
          stage: one.stage,
          stageAttempt: one.stage_attempt,
          host: visible(one.host ?? '?'),
          duration: duration(one.duration_ns),
        }),
        text,
        className: heldBy(one) === row.host ? 'failed' : 'slow-bar',
        href: linkToTask(app, one),
        chosen: false,
      },
    ]
  })
}

const isOn = (mark: Mark, host: string): boolean => mark.host === undefined || mark.host === host

function OneHost({ app, row, marks }: { app: StagesAnswer; row: HostOfApp; marks: readonly Mark[] }): VNode {
  const asked = samplesAsked(app, row.host)
  const answer = useQuestion<SamplesAnswer>('samples', asked ?? null)
  if (asked === undefined) return <></>
  const period = { since: BigInt(asked.since!), until: BigInt(asked.until!) }
  const bars = barsOf(app.app, row)
  const done = marks.filter((mark) => isOn(mark, row.host))
  const groups = [
    ...groupsOfMarks(done),
    { name: t('held by it'), bars: bars.filter((bar) => bar.className === 'failed') },
    { name: t('slow on it'), bars: bars.filter((bar) => bar.className !== 'failed') },
  ].filter((group) => group.bars.length > 0)
  return (
    <section class="host-of-app" aria-label={t('{host} while it ran', { host: visible(row.host) })}>
      <h3>{tx('{host} while it ran', { host: <a href={linkTo('hosts', row.host)}>{visible(row.host)}</a> })}</h3>
      <Lanes label={t('Slow tasks of {host}', { host: visible(row.host) })} groups={groups} period={period} />
      <Shown answer={answer} lines={4}>
        {(data) =>
          data.at.length === 0 ? (
            <p class="more">{t('No samples of this host were sent.')}</p>
          ) : (
            <SampleCurves of={data} period={period} bands={bandsOf(done)} />
          )
        }
      </Shown>
    </section>
  )
}

export function HostsOfApp(props: { app: StagesAnswer; hosts: readonly HostOfApp[]; marks: readonly Mark[] }): VNode {
  const { app, hosts, marks } = props
  const chosen = chosenHost(hosts)
  if (chosen === undefined) return <p class="more">{t('No host of it is known.')}</p>
  return (
    <>
      <Table label={t('Hosts')} columns={columnsOf(hosts, chosen.host)} rows={hosts} rowKey={(row) => row.host} />
      <OneHost key={chosen.host} app={app} row={chosen} marks={marks} />
    </>
  )
}
