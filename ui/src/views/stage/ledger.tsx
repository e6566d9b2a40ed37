// Where a slow task's time went, part by part, against its peers: what it took longer, and what less.

import type { VNode } from 'preact'
import type { Ledger, LedgerPart } from '../../api/ledger.ts'
import { suspectText, SuspectLink } from '../../parts/cause.tsx'
import { Exported } from '../../parts/export.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration, durationSigned } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

const TEXTS: Readonly<Record<string, string>> = {
  data: t('more data than they had'),
  processor: t('computing'),
  processor_wait: t('waiting for a processor'),
  gc: t('garbage collection'),
  shuffle_wait: t('waiting for the shuffle'),
  shuffle_write: t('writing the shuffle'),
  hdfs_disk: t('waiting for disks of HDFS'),
  hdfs_network: t('waiting for the network of HDFS'),
  hdfs_lock: t('waiting for locks and queues of HDFS'),
  hdfs_server: t('waiting for processors of HDFS'),
  hdfs_sleep: t('asleep in the client of HDFS, before another try'),
  deserialize: t('deserializing the task'),
  serialize: t('serializing its result'),
  result: t('until the driver had its result'),
  scheduler: t('scheduling'),
  unexplained: t('unexplained'),
}

interface Item {
  readonly key: string
  readonly text: string
  readonly shown: VNode
  readonly moreNs: number
  readonly timeNs: number
}

/** Smaller than this share of the excess: told with the others. As plumb's own line. */
const SMALL = 0.02

const partText = (part: LedgerPart): string => TEXTS[part.part] ?? visible(part.part)

/** The servers that cost enough have a row of their own; what is left of their part, too. */
function itemsOf(part: LedgerPart, leastNs: number): Item[] {
  const servers = (part.servers ?? []).filter((server) => server.host !== undefined && server.more_ns >= leastNs)
  const rows = servers.map((server): Item => {
    const text = t('waiting for the {resource}', { resource: suspectText(server) })
    const shown = <>{tx('waiting for the {resource}', { resource: <SuspectLink suspect={server} /> })}</>
    const key = `${part.part} ${server.process ?? server.host!}`
    return { key, text, shown, moreNs: server.more_ns, timeNs: server.time_ns }
  })
  const sum = (of: (item: Item) => number): number => rows.reduce((all, item) => all + of(item), 0)
  const text = partText(part)
  const left = {
    key: part.part,
    text,
    shown: <>{text}</>,
    moreNs: part.more_ns - sum((item) => item.moreNs),
    timeNs: Math.max(0, part.time_ns - sum((item) => item.timeNs)),
  }
  return [...rows, left]
}

/** Largest first; the small ones as one, so that they still add up. */
export function ledgerItems(ledger: Ledger): Item[] {
  const leastNs = SMALL * Math.abs(ledger.excess_ns)
  const all = ledger.parts.flatMap((part) => itemsOf(part, leastNs))
  const large = all.filter((item) => Math.abs(item.moreNs) >= leastNs)
  const small = all.filter((item) => Math.abs(item.moreNs) < leastNs)
  const others = t('all else')
  const rest: Item = {
    key: 'others',
    text: others,
    shown: <>{others}</>,
    moreNs: small.reduce((sum, item) => sum + item.moreNs, 0),
    timeNs: small.reduce((sum, item) => sum + item.timeNs, 0),
  }
  return [...large.sort((a, b) => Math.abs(b.moreNs) - Math.abs(a.moreNs)), ...(small.length > 0 ? [rest] : [])]
}

function Row({ item, most }: { item: Item; most: number }): VNode {
  const wide = most > 0 ? (50 * Math.abs(item.moreNs)) / most : 0
  const longer = item.moreNs >= 0
  return (
    <tr>
      <th scope="row">{item.shown}</th>
      <td class="signed-bar">
        <span
          class={longer ? 'longer' : 'shorter'}
          style={{ left: `${(longer ? 50 : 50 - wide).toFixed(2)}%`, width: `${wide.toFixed(2)}%` }}
          aria-hidden="true"
        />
      </td>
      <td>{durationSigned(item.moreNs)}</td>
      <td class="quiet-text">{duration(item.timeNs)}</td>
    </tr>
  )
}

export function LedgerOf({ ledger }: { ledger: Ledger }): VNode {
  const items = ledgerItems(ledger)
  const most = Math.max(0, ...items.map((item) => Math.abs(item.moreNs)))
  const longer = items.filter((item) => item.moreNs > 0 && item.key !== 'others').slice(0, 3)
  return (
    <section class="ledger">
      <h4>{t('Where its time went')}</h4>
      <p>
        {ledger.peers === 0
          ? t('There are no normal tasks to compare it with.')
          : t('It took {excess} longer than its {peers} normal peers: {parts}.', {
              excess: duration(ledger.excess_ns),
              peers: count(ledger.peers),
              parts: longer.map((item) => `${item.text} (${duration(item.moreNs)})`).join(', '),
            })}
      </p>
      <Exported name="ledger" table>
        <table class="ledger-table">
          <caption class="unseen">{t('Parts of its time')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('part')}</th>
              <td aria-hidden="true" />
              <th scope="col">{t('more than its peers')}</th>
              <th scope="col">{t('of its time')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <Row key={item.key} item={item} most={most} />
            ))}
          </tbody>
        </table>
      </Exported>
    </section>
  )
}
