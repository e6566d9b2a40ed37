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
import { dayTime } from '../../text/times.ts'
import { age, bytes, count, duration, perS } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

const FATES: readonly (readonly [string, string, string])[] = [
  ['stored', 'stored', 'in the store, with their traces'],
  ['open', 'open', 'in traces that still take spans'],
  ['waiting', 'late', 'stored, and not yet joined to their traces'],
  ['repeated', 'repeats', 'there already: they change nothing'],
  ['thinned', 'thinned', 'removed to make room; statistics stay'],
  ['expired', 'expired', 'removed for their age; statistics stay'],
  ['set_aside', 'set aside', 'no store took them: look into the log'],
]

const numberOf = (account: Account, name: string): number => {
  const value = account[name]
  return typeof value === 'number' ? value : 0
}

function Flow({ account }: { account: Account }): VNode {
  const received = numberOf(account, 'received')
  const fates = FATES.map(([name, label, why]) => ({ name, label, why, spans: numberOf(account, name) }))
  return (
    <section aria-label="What became of every span">
      <h2>Every span: {count(received)} received</h2>
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
          {count(numberOf(account, 'refused'))} more spans were refused since plumbd started: see the reasons below.
        </p>
      )}
    </section>
  )
}

function losses(receiver: ReceiverStatus): { where: string; reason: string; number: number }[] {
  const kinds: [string, Record<string, number>][] = [
    ['spans refused', receiver.refused],
    ['frames not taken', receiver.rejected_frames],
    ['connections closed', receiver.refused_connections],
    ['HTTP requests', receiver.rejected_http],
  ]
  const rows = kinds.flatMap(([where, reasons]) =>
    Object.entries(reasons).map(([reason, number]) => ({ where, reason, number })),
  )
  const drops = new Map<string, number>()
  for (const sender of receiver.senders)
    for (const [reason, spans] of Object.entries(sender.drops)) drops.set(reason, (drops.get(reason) ?? 0) + spans)
  return [...rows, ...[...drops].map(([reason, number]) => ({ where: 'dropped by senders', reason, number }))]
}

function Losses({ receiver }: { receiver: ReceiverStatus }): VNode {
  const rows = losses(receiver)
  if (rows.length === 0)
    return (
      <p class="good-text">
        <span aria-hidden="true">✓</span> No sender dropped a span, and plumbd refused none.
      </p>
    )
  const columns: Column<(typeof rows)[number]>[] = [
    { key: 'where', head: 'what', text: true, cell: (row) => row.where },
    { key: 'reason', head: 'reason', text: true, cell: (row) => visible(row.reason) },
    { key: 'number', head: 'number', cell: (row) => count(row.number) },
  ]
  return <Table label="Losses by reason" columns={columns} rows={rows} rowKey={(row) => `${row.where} ${row.reason}`} />
}

function Senders({ receiver }: { receiver: ReceiverStatus }): VNode {
  const now = nowNs()
  const columns: Column<ReceiverStatus['senders'][number]>[] = [
    { key: 'sender', head: 'process', text: true, cell: (row) => visible(row.sender) },
    { key: 'sent', head: 'spans sent', cell: (row) => count(row.spans_sent) },
    { key: 'queued', head: 'queued', cell: (row) => count(row.spans_queued) },
    {
      key: 'drops',
      head: 'dropped',
      cell: (row) => count(Object.values(row.drops).reduce((sum, spans) => sum + spans, 0)),
    },
    { key: 'repeated', head: 'repeated batches', cell: (row) => count(row.repeated_batches) },
    { key: 'seen', head: 'heard of', cell: (row) => `${age(Number(now - row.last_seen_time_ns))} ago` },
  ]
  return (
    <section>
      <h2>Processes that send</h2>
      {receiver.senders.length === 0 ? (
        <p>None has sent anything since plumbd started.</p>
      ) : (
        <Table label="Processes that send" columns={columns} rows={receiver.senders} rowKey={(row) => row.sender} />
      )}
    </section>
  )
}

function storeFacts({ store }: StatusAnswer): [string, string][] {
  const facts: [string, string][] = [
    ['traces', count(store.traces)],
    ['spans', count(store.spans)],
    ['incomplete traces', count(store.incomplete_traces)],
    ['patterns', count(store.patterns)],
    ['functions', count(store.functions)],
    ['hosts', count(store.hosts)],
    ['on disk', bytes(store.disk_bytes)],
    ['a span takes', `${store.bytes_per_span} B`],
    ['free', bytes(store.free_bytes)],
  ]
  if (store.first_time_ns !== undefined) facts.push(['from', dayTime(store.first_time_ns, zone.value)])
  if (store.last_time_ns !== undefined) facts.push(['to', dayTime(store.last_time_ns, zone.value)])
  for (const [kind, number] of Object.entries(store.records ?? {})) facts.push([`Spark: ${kind}`, count(number)])
  return facts
}

function receiverFacts(receiver: ReceiverStatus): [string, string][] {
  return [
    ['spans a second', perS(receiver.spans_per_s)],
    ['behind by', duration(receiver.lag_ns)],
    ['open traces', count(receiver.open_traces)],
    ['journal', bytes(receiver.journal_bytes)],
    ['connections', count(receiver.connections)],
    ['told to wait', count(receiver.try_later)],
    ['closed early', count(receiver.closed_early)],
    ['names', `${(100 * receiver.names.full).toFixed(1)} % full`],
    ['sampling', receiver.sampling === '' ? 'senders decide' : visible(receiver.sampling)],
    ['space', receiver.space.level],
    ['memory', bytes(receiver.rss_bytes)],
    ['runs for', age(receiver.uptime_ns)],
  ]
}

function sentence(data: StatusAnswer | undefined): VNode | undefined {
  if (data === undefined) return undefined
  const { receiver, store } = data
  if (receiver === undefined) return <>{count(store.spans)} spans are stored.</>
  if (!receiver.ready)
    return <span class="bad-text">plumbd takes no spans: {visible(receiver.reason ?? 'not ready')}.</span>
  const lost = losses(receiver).filter(({ where }) => where.includes('spans') || where.includes('senders'))
  const total = lost.reduce((sum, { number }) => sum + number, 0)
  return (
    <>
      plumbd takes {perS(receiver.spans_per_s).replace('/s', ' spans a second')}.{' '}
      {total === 0 ? 'Nothing is lost.' : <span class="warn-text">{count(total)} spans were lost: see why below.</span>}
    </>
  )
}

export function StatusView(): VNode {
  const answer = useQuestion<StatusAnswer>('status', {})
  return (
    <View
      title="Status"
      question="Is anything lost?"
      sentence={sentence(answer.data)}
      asked={[{ question: 'status', parameters: {} }]}
    >
      <Shown answer={answer} lines={14}>
        {(data) => (
          <>
            {data.receiver?.recovering !== undefined && (
              <p class="notice warn">
                plumbd replays its journal after a crash ({Math.round(100 * data.receiver.recovering)} %): answers lack
                the rest.
              </p>
            )}
            {data.receiver && <Flow account={data.receiver.accounting} />}
            <div class="columns">
              <section>
                <h2>The store</h2>
                <Facts facts={storeFacts(data)} />
              </section>
              {data.receiver && (
                <section>
                  <h2>plumbd {data.version}</h2>
                  <Facts facts={receiverFacts(data.receiver)} />
                </section>
              )}
            </div>
            {data.receiver && (
              <section>
                <h2>Losses by reason</h2>
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
