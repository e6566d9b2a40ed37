// All hosts: which are slow, since when; how each is against its own prediction; for which tasks of Spark waited.

import type { VNode } from 'preact'
import type { HostsAnswer, NodeRow, NodesAnswer, SkewAnswer } from '../../api/hosts.ts'
import { go, linkTo, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion, useQuestionOnce } from '../../app/question.ts'
import { spellText, whoOf } from '../../parts/spell.ts'
import { Empty, Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { age, count, duration, durationSigned } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { clocksOf, isOff, type Clock } from './clocks.ts'
import { SpellCard } from './spells.tsx'

const ROWS = '60'
const USUAL = 1.5

export const hostLink = (host: string): VNode => (
  <a class="plain" href={linkTo('hosts', host)}>
    <b>{visible(host)}</b>
  </a>
)

export const classColumns: readonly Column<NodeRow>[] = [
  { key: 'class', head: t('class of work'), text: true, cell: (row) => row.class },
  {
    key: 'state',
    head: t('state'),
    text: true,
    cell: (row) => <span class={`state-of state-${row.state}`}>{word(row.state)}</span>,
  },
  {
    key: 'slowdown',
    head: t('now, × its usual'),
    title: t('how long calls take, of what is predicted for this host'),
    cell: (row) =>
      row.slowdown === undefined ? (
        '-'
      ) : (
        <span class={row.slowdown >= USUAL ? 'warn-text' : ''}>{row.slowdown.toFixed(2)}</span>
      ),
  },
  {
    key: 'z',
    head: t('deviations'),
    title: t('how many times what it usually varies by'),
    cell: (row) => (row.z === undefined ? '-' : `${row.z > 0 ? '+' : ''}${row.z.toFixed(1)}`),
  },
  {
    key: 'constant',
    head: t('usually, × its peers'),
    title: t('how fast the host is at most times: old hardware is no fault'),
    cell: (row) => (row.constant === undefined ? '-' : row.constant.toFixed(2)),
  },
  { key: 'calls', head: t('calls'), cell: (row) => count(row.calls) },
]

function ClockCell({ clock }: { clock: Clock | undefined }): VNode {
  if (clock === undefined) return <>-</>
  const text = durationSigned(clock.aheadNs)
  const within = `± ${duration(clock.uncertaintyNs)}`
  return isOff(clock) ? (
    <span class="warn-text">
      {text} {within}
    </span>
  ) : (
    <span class="quiet-text">{within}</span>
  )
}

const columnsWith = (clocks: ReadonlyMap<string, Clock>): readonly Column<NodeRow>[] => [
  { key: 'host', head: t('host'), text: true, cell: (row) => hostLink(row.host) },
  ...classColumns,
  {
    key: 'clock',
    head: t('clock'),
    title: t('how far ahead of most others, where that is more than the calls between them leave open'),
    cell: (row) => <ClockCell clock={clocks.get(row.host)} />,
  },
]

const WAITED: readonly Column<HostsAnswer['hosts'][number]>[] = [
  { key: 'host', head: t('host'), text: true, cell: (row) => hostLink(row.host) },
  { key: 'resource', head: t('waited for its'), text: true, cell: (row) => word(row.resource) },
  { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
  { key: 'cost', head: t('slower by, in all'), cell: (row) => duration(row.explains_ns) },
  { key: 'since', head: t('since'), cell: (row) => dayTime(row.since_time_ns, zone.value) },
  { key: 'function', head: t('function'), text: true, cell: (row) => visible(row.function) },
]

export function Waited({ answer }: { answer: HostsAnswer }): VNode {
  if (answer.hosts.length === 0)
    return (
      <p class="more">
        {tx('No slow task of the {apps} {more} waited for a host of HDFS.', {
          apps: count(answer.apps),
          more: answer.apps === 1 ? t('application') : t('applications'),
        })}
      </p>
    )
  return (
    <Table
      label={t('Tasks waited for')}
      columns={WAITED}
      rows={answer.hosts}
      rowKey={(row) => row.host + row.resource}
    />
  )
}

/** Of some class of work at least it is known what is usual. */
export const isLearned = (answer: NodesAnswer): boolean => answer.nodes.some((row) => row.state !== 'learning')

function Sentence({ answer }: { answer: NodesAnswer }): VNode {
  const slow = answer.spells.filter((spell) => spell.state === 'suspected')
  const worst = slow[0]
  if (worst === undefined && !answer.judged)
    return <>{t('Nothing can be called slow yet: no host has five minutes of the same kind of work.')}</>
  if (worst === undefined) return <>{t('No host is slower than it usually is.')}</>
  return (
    <>
      {tx('{more}: its {worst}.{more2}', {
        more: worst.host === undefined ? whoOf(worst) : <a href={linkTo('hosts', worst.host)}>{whoOf(worst)}</a>,
        worst: spellText(worst),
        more2: slow.length > 1 && t(' {slow} more below.', { slow: count(slow.length - 1) }),
      })}
    </>
  )
}

export function Learned({ answer }: { answer: NodesAnswer }): VNode {
  return (
    <p class="more">
      {tx(
        '{calls} calls of {hosts} {more} in {minutesRead} minutes. What is usual was learned from {minutesLearned} minutes of {history}{more2}.',
        {
          calls: count(answer.calls),
          hosts: count(answer.hosts),
          more: answer.hosts === 1 ? t('host') : t('hosts'),
          minutesRead: count(answer.minutes_read),
          minutesLearned: count(answer.minutes_learned),
          history: age(answer.history_ns),
          more2: answer.state === 'learning' && t(' (still learning: surest with 7 days)'),
        },
      )}
    </p>
  )
}

function Hosts({ answer, clocks }: { answer: NodesAnswer; clocks: ReadonlyMap<string, Clock> }): VNode {
  if (answer.nodes.length === 0) return <Empty what={t('No calls')} />
  return (
    <>
      {answer.spells.map((spell) => (
        <SpellCard key={`${whoOf(spell)} ${spell.class} ${spell.begin_time_ns}`} spell={spell} here={false} />
      ))}
      <h2>{t('Each host against its own prediction')}</h2>
      <Table
        label={t('Hosts')}
        columns={columnsWith(clocks)}
        rows={answer.nodes}
        rowKey={(row) => `${row.host} ${row.class}`}
      />
      {answer.more === true && (
        <p class="more">
          {tx('The first {nodes}.', { nodes: count(answer.nodes.length) })}{' '}
          <button type="button" onClick={() => go({ limit: '0' })}>
            {t('Show all')}
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
  const skewAsked = { ...askedPeriod() }
  const skew = useQuestionOnce<SkewAnswer>('skew', skewAsked)
  const clocks = clocksOf(skew.data?.pairs ?? [])
  return (
    <View
      title={t('Hosts')}
      question={t('Which host is slow, at what, since when?')}
      {...(answer.data === undefined || answer.data.nodes.length === 0
        ? {}
        : { sentence: <Sentence answer={answer.data} /> })}
      asked={[
        { question: 'nodes', parameters },
        { question: 'hosts', parameters: {} },
        { question: 'skew', parameters: skewAsked },
      ]}
    >
      <Shown answer={answer} lines={12}>
        {(data) => (
          <>
            {skew.error !== undefined && !skew.gone && <Shown answer={skew}>{() => null}</Shown>}
            <Hosts answer={data} clocks={clocks} />
          </>
        )}
      </Shown>
      <h2>{t('Hosts that slow tasks of Spark waited for')}</h2>
      <Shown answer={waited} lines={3}>
        {(data) => <Waited answer={data} />}
      </Shown>
    </View>
  )
}
