// All hosts: which are slow, since when; how each is against its own prediction; for which tasks of Spark waited.

import type { VNode } from 'preact'
import type { HostsAnswer, NodeRow, NodesAnswer } from '../../api/hosts.ts'
import { go, linkTo, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { Empty, Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { dayTime } from '../../text/times.ts'
import { age, count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { SpellCard, spellText, whoOf } from './spells.tsx'

const ROWS = '60'
const USUAL = 1.5

export const hostLink = (host: string): VNode => (
  <a class="plain" href={linkTo('hosts', host)}>
    <b>{visible(host)}</b>
  </a>
)

export const classColumns: readonly Column<NodeRow>[] = [
  { key: 'class', head: 'class of work', text: true, cell: (row) => row.class },
  {
    key: 'state',
    head: 'state',
    text: true,
    cell: (row) => <span class={`state-of state-${row.state}`}>{row.state}</span>,
  },
  {
    key: 'slowdown',
    head: 'now, × its usual',
    title: 'how long calls take, of what is predicted for this host',
    cell: (row) =>
      row.slowdown === undefined ? (
        '-'
      ) : (
        <span class={row.slowdown >= USUAL ? 'warn-text' : ''}>{row.slowdown.toFixed(2)}</span>
      ),
  },
  {
    key: 'z',
    head: 'deviations',
    title: 'how many times what it usually varies by',
    cell: (row) => (row.z === undefined ? '-' : `${row.z > 0 ? '+' : ''}${row.z.toFixed(1)}`),
  },
  {
    key: 'constant',
    head: 'usually, × its peers',
    title: 'how fast the host is at most times: old hardware is no fault',
    cell: (row) => (row.constant === undefined ? '-' : row.constant.toFixed(2)),
  },
  { key: 'calls', head: 'calls', cell: (row) => count(row.calls) },
]

const COLUMNS: readonly Column<NodeRow>[] = [
  { key: 'host', head: 'host', text: true, cell: (row) => hostLink(row.host) },
  ...classColumns,
]

const WAITED: readonly Column<HostsAnswer['hosts'][number]>[] = [
  { key: 'host', head: 'host', text: true, cell: (row) => hostLink(row.host) },
  { key: 'resource', head: 'waited for its', text: true, cell: (row) => row.resource },
  { key: 'tasks', head: 'tasks', cell: (row) => count(row.tasks) },
  { key: 'cost', head: 'slower by, in all', cell: (row) => duration(row.explains_ns) },
  { key: 'since', head: 'since', cell: (row) => dayTime(row.since_time_ns, zone.value) },
  { key: 'function', head: 'function', text: true, cell: (row) => visible(row.function) },
]

export function Waited({ answer }: { answer: HostsAnswer }): VNode {
  if (answer.hosts.length === 0)
    return (
      <p class="more">
        No slow task of the {count(answer.apps)} {answer.apps === 1 ? 'application' : 'applications'} waited for a host
        of HDFS.
      </p>
    )
  return (
    <Table label="Tasks waited for" columns={WAITED} rows={answer.hosts} rowKey={(row) => row.host + row.resource} />
  )
}

function Sentence({ answer }: { answer: NodesAnswer }): VNode {
  const slow = answer.spells.filter((spell) => spell.state === 'suspected')
  const worst = slow[0]
  if (worst === undefined) return <>No host is slower than it usually is.</>
  return (
    <>
      {worst.host === undefined ? whoOf(worst) : <a href={linkTo('hosts', worst.host)}>{whoOf(worst)}</a>}: its{' '}
      {spellText(worst)}.{slow.length > 1 && ` ${count(slow.length - 1)} more below.`}
    </>
  )
}

export function Learned({ answer }: { answer: NodesAnswer }): VNode {
  return (
    <p class="more">
      {count(answer.calls)} calls of {count(answer.hosts)} {answer.hosts === 1 ? 'host' : 'hosts'} in{' '}
      {count(answer.minutes_read)} minutes. What is usual was learned from {count(answer.minutes_learned)} minutes of{' '}
      {age(answer.history_ns)}
      {answer.state === 'learning' && ' (still learning: surest with 7 days)'}.
    </p>
  )
}

function Hosts({ answer }: { answer: NodesAnswer }): VNode {
  if (answer.nodes.length === 0) return <Empty what="No calls" />
  return (
    <>
      {answer.spells.map((spell) => (
        <SpellCard key={`${whoOf(spell)} ${spell.class} ${spell.begin_time_ns}`} spell={spell} here={false} />
      ))}
      <h2>Each host against its own prediction</h2>
      <Table label="Hosts" columns={COLUMNS} rows={answer.nodes} rowKey={(row) => `${row.host} ${row.class}`} />
      {answer.more === true && (
        <p class="more">
          The first {count(answer.nodes.length)}.{' '}
          <button type="button" onClick={() => go({ limit: '0' })}>
            Show all
          </button>
        </p>
      )}
      <Learned answer={answer} />
    </>
  )
}

export function HostsList(): VNode {
  const parameters = { ...askedPeriod(), limit: value('limit') ?? ROWS }
  const answer = useQuestion<NodesAnswer>('nodes', parameters)
  const waited = useQuestion<HostsAnswer>('hosts', {})
  return (
    <View
      title="Hosts"
      question="Which host is slow, at what, since when?"
      {...(answer.data === undefined || answer.data.nodes.length === 0
        ? {}
        : { sentence: <Sentence answer={answer.data} /> })}
      asked={[
        { question: 'nodes', parameters },
        { question: 'hosts', parameters: {} },
      ]}
    >
      <Shown answer={answer} lines={12}>
        {(data) => <Hosts answer={data} />}
      </Shown>
      <h2>Hosts that slow tasks of Spark waited for</h2>
      <Shown answer={waited} lines={3}>
        {(data) => <Waited answer={data} />}
      </Shown>
    </View>
  )
}
