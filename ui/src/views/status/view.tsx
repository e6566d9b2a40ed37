// Is anything lost?

import type { VNode } from 'preact'
import type { Account, ReceiverStatus, StatusAnswer } from '../../api/answers.ts'
import { zone } from '../../app/choices.ts'
import { nowNs } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { Facts } from '../../parts/measure.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { age, bytes, count, duration, perS } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { lossesOf, spansLost } from './losses.ts'

const FATES: readonly (readonly [string, string, string])[] = [
  ['stored', t('stored'), t('in the store, with their traces')],
  ['open', t('open'), t('in traces that still take spans')],
  ['waiting', t('late'), t('stored, and not yet joined to their traces')],
  ['repeated', t('repeats'), t('there already: they change nothing')],
  ['thinned', t('thinned'), t('removed to make room; statistics stay')],
  ['expired', t('expired'), t('removed for their age; statistics stay')],
  ['set_aside', t('set aside'), t('no store took them: look into the log')],
]

const numberOf = (account: Account, name: string): number => {
  const value = account[name]
  return typeof value === 'number' ? value : 0
}

function Flow({ account }: { account: Account }): VNode {
  const received = numberOf(account, 'received')
  const fates = FATES.map(([name, label, why]) => ({ name, label, why, spans: numberOf(account, name) }))
  return (
    <section aria-label={t('What became of every span')}>
      <h2>{tx('Every span: {received} received', { received: count(received) })}</h2>
      <div class="flow" aria-hidden="true">
        {fates
          .filter(({ spans }) => spans > 0)
          .map(({ name, spans }) => (
            <span key={name} class={`fate-${name}`} style={{ flexGrow: spans }} />
          ))}
      </div>
      <ul class="legend">
        {fates.map(({ name, label, why, spans }) => (
          <li key={name} title={why}>
            <span class={`swatch fate-${name}`} aria-hidden="true" /> {label} <b>{count(spans)}</b>
          </li>
        ))}
      </ul>
      {numberOf(account, 'refused') > 0 && (
        <p class="warn-text">
          {tx('{account} more spans were refused since plumbd started: see the reasons below.', {
            account: count(numberOf(account, 'refused')),
          })}
        </p>
      )}
    </section>
  )
}

function Losses({ receiver }: { receiver: ReceiverStatus }): VNode {
  const rows = lossesOf(receiver)
  if (rows.length === 0)
    return (
      <p class="good-text">
        <span aria-hidden="true">✓</span> {t('No sender dropped a span, and plumbd refused none.')}
      </p>
    )
  const columns: Column<(typeof rows)[number]>[] = [
    { key: 'where', head: t('what'), text: true, cell: (row) => row.where },
    { key: 'reason', head: t('reason'), text: true, cell: (row) => visible(row.reason) },
    { key: 'number', head: t('number'), cell: (row) => count(row.number) },
  ]
  return (
    <Table label={t('Losses by reason')} columns={columns} rows={rows} rowKey={(row) => `${row.where} ${row.reason}`} />
  )
}

function Senders({ receiver }: { receiver: ReceiverStatus }): VNode {
  const now = nowNs()
  const columns: Column<ReceiverStatus['senders'][number]>[] = [
    { key: 'sender', head: t('process'), text: true, cell: (row) => visible(row.sender) },
    { key: 'sent', head: t('spans sent'), cell: (row) => count(row.spans_sent) },
    { key: 'queued', head: t('queued'), cell: (row) => count(row.spans_queued) },
    {
      key: 'drops',
      head: t('dropped'),
      cell: (row) => count(Object.values(row.drops).reduce((sum, spans) => sum + spans, 0)),
    },
    { key: 'repeated', head: t('repeated batches'), cell: (row) => count(row.repeated_batches) },
    {
      key: 'seen',
      head: t('heard of'),
      cell: (row) => t('{now} ago', { now: age(Number(now - row.last_seen_time_ns)) }),
    },
  ]
  return (
    <section>
      <h2>{t('Processes that send')}</h2>
      {receiver.senders.length === 0 ? (
        <p>{t('None has sent anything since plumbd started.')}</p>
      ) : (
        <Table
          label={t('Processes that send')}
          columns={columns}
          rows={receiver.senders}
          rowKey={(row) => row.sender}
        />
      )}
    </section>
  )
}

function storeFacts({ store }: StatusAnswer): [string, string][] {
  const facts: [string, string][] = [
    [t('traces'), count(store.traces)],
    [t('spans'), count(store.spans)],
    [t('incomplete traces'), count(store.incomplete_traces)],
    [t('patterns'), count(store.patterns)],
    [t('functions'), count(store.functions)],
    [t('hosts'), count(store.hosts)],
    [t('on disk'), bytes(store.disk_bytes)],
    [t('a span takes'), `${store.bytes_per_span} B`],
    [t('free'), bytes(store.free_bytes)],
  ]
  if (store.first_time_ns !== undefined) facts.push([t('from'), dayTime(store.first_time_ns, zone.value)])
  if (store.last_time_ns !== undefined) facts.push([t('to'), dayTime(store.last_time_ns, zone.value)])
  for (const [kind, number] of Object.entries(store.records ?? {})) facts.push([`Spark: ${kind}`, count(number)])
  return facts
}

function receiverFacts(receiver: ReceiverStatus): [string, string][] {
  return [
    [t('spans a second'), perS(receiver.spans_per_s)],
    [t('behind by'), duration(receiver.lag_ns)],
    [t('open traces'), count(receiver.open_traces)],
    [t('journal'), bytes(receiver.journal_bytes)],
    [t('connections'), count(receiver.connections)],
    [t('told to wait'), count(receiver.try_later)],
    [t('closed early'), count(receiver.closed_early)],
    [t('names'), t('{what} % full', { what: (100 * receiver.names.full).toFixed(1) })],
    [t('sampling'), receiver.sampling === '' ? t('senders decide') : visible(receiver.sampling)],
    [t('space'), word(receiver.space.level)],
    [t('memory'), bytes(receiver.rss_bytes)],
    [t('runs for'), age(receiver.uptime_ns)],
  ]
}

function sentence(data: StatusAnswer | undefined): VNode | undefined {
  if (data === undefined) return undefined
  const { receiver, store } = data
  if (receiver === undefined) return <>{tx('{spans} spans are stored.', { spans: count(store.spans) })}</>
  if (!receiver.ready)
    return (
      <span class="bad-text">
        {tx('plumbd takes no spans: {reason}.', { reason: visible(receiver.reason ?? t('not ready')) })}
      </span>
    )
  const total = spansLost(receiver)
  return (
    <>
      {tx('plumbd takes {spansPerS}. {more}', {
        spansPerS: perS(receiver.spans_per_s).replace('/s', t(' spans a second')),
        more:
          total === 0 ? (
            t('Nothing is lost.')
          ) : (
            <span class="warn-text">{tx('{total} spans were lost: see why below.', { total: count(total) })}</span>
          ),
      })}
    </>
  )
}

export function StatusView(): VNode {
  const answer = useQuestion<StatusAnswer>('status', {})
  return (
    <View
      title={t('Status')}
      question={t('Is anything lost?')}
      sentence={sentence(answer.data)}
      asked={[{ question: 'status', parameters: {} }]}
    >
      <Shown answer={answer} lines={14}>
        {(data) => (
          <>
            {data.receiver?.recovering !== undefined && (
              <p class="notice warn">
                {tx('plumbd replays its journal after a crash ({what} %): answers lack the rest.', {
                  what: Math.round(100 * data.receiver.recovering),
                })}
              </p>
            )}
            {data.receiver && <Flow account={data.receiver.accounting} />}
            <div class="columns">
              <section>
                <h2>{t('The store')}</h2>
                <Facts facts={storeFacts(data)} />
              </section>
              {data.receiver && (
                <section>
                  <h2>{tx('plumbd {version}', { version: data.version })}</h2>
                  <Facts facts={receiverFacts(data.receiver)} />
                </section>
              )}
            </div>
            {data.receiver && (
              <section>
                <h2>{t('Losses by reason')}</h2>
                <Losses receiver={data.receiver} />
              </section>
            )}
            {data.receiver && <Senders receiver={data.receiver} />}
          </>
        )}
      </Shown>
    </View>
  )
}
