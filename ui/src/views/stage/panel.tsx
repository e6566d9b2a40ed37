// One task: its numbers, why it was slow, and the call that held it.

import type { VNode } from 'preact'
import type { Straggler, TaskInHdfs, TaskRow } from '../../api/spark.ts'
import { linkTo } from '../../app/address.ts'
import { HostLink, Name } from '../../parts/bits.tsx'
import { Cause } from '../../parts/cause.tsx'
import { Facts } from '../../parts/measure.tsx'
import { t, tx } from '../../text/t.ts'
import { bytes, count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'
import { EvidenceList } from './evidence.tsx'
import { LedgerOf } from './ledger.tsx'

function Path({ straggler, trace }: { straggler: Straggler; trace: string }): VNode {
  const path = straggler.main_cause?.suspect?.path ?? []
  if (path.length === 0) return <></>
  return (
    <>
      <h4>{t('To the longest call')}</h4>
      <ol class="path">
        {path.map((call, i) => (
          <li key={i}>
            <a class="plain" href={linkTo('trace', trace, { call: call.span })}>
              <Name text={call.function} role={call.role} />
            </a>{' '}
            {duration(call.duration_ns)}
            {call.host !== undefined && <span class="quiet-text"> {visible(call.host)}</span>}
          </li>
        ))}
      </ol>
    </>
  )
}

function InHdfs({ of, taskNs }: { of: TaskInHdfs; taskNs: number }): VNode {
  const parts = Object.entries(of.resources_ns)
    .filter(([, ns]) => ns > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ns]) => `${word(name)} ${duration(ns)}`)
  return (
    <>
      <h4>{t('In HDFS')}</h4>
      <p>
        {tx('{time}, {share} of it: {parts}.', {
          time: duration(of.time_ns),
          share: share(of.time_ns, taskNs),
          parts: parts.join(', '),
        })}
      </p>
      {of.bytes + of.local_bytes > 0 && (
        <p>
          {tx(
            'It read {bytes} from DataNodes, {remote} of it from other hosts, and {local} from files of its own host.',
            {
              bytes: bytes(of.bytes),
              remote: bytes(of.remote_bytes),
              local: bytes(of.local_bytes),
            },
          )}
        </p>
      )}
    </>
  )
}

export function TaskPanel({ task, straggler }: { task: TaskRow; straggler: Straggler | undefined }): VNode {
  const facts: [string, VNode | string][] = [
    [t('status'), word(task.status)],
    [t('duration'), task.duration_ns === undefined ? '-' : duration(task.duration_ns)],
    [t('of the median'), task.times_median === undefined ? '-' : `× ${task.times_median.toFixed(2)}`],
    [t('host'), <HostLink host={task.host} />],
    [t('executor'), visible(task.executor ?? '-')],
    [t('partition'), count(task.partition)],
  ]
  const trace = straggler?.hdfs?.trace ?? task.trace
  const slowest = straggler?.main_cause?.suspect?.path?.at(-1)
  return (
    <section class="panel" aria-label={t('The task that is chosen')}>
      <h2>{tx('Task {task}', { task: task.task })}</h2>
      <Facts facts={facts} />
      {task.reason !== undefined && <p class="bad-text">{visible(task.reason)}</p>}
      {straggler !== undefined && (
        <>
          <h4>{t('Why it was slow')}</h4>
          <p>
            <Cause straggler={straggler} />
          </p>
        </>
      )}
      {trace !== undefined && (
        <p class="buttons">
          {slowest !== undefined && (
            <a class="button first" href={linkTo('trace', trace, { call: slowest.span })}>
              {t('Its slowest call')}
            </a>
          )}
          <a class="button" href={linkTo('trace', trace)}>
            {straggler?.hdfs?.trace === undefined ? t('Its calls, if its executor had the agent') : t('All its calls')}
          </a>
        </p>
      )}
      {straggler !== undefined && (
        <>
          {straggler.ledger !== undefined && <LedgerOf ledger={straggler.ledger} />}
          {trace !== undefined && <Path straggler={straggler} trace={trace} />}
          {straggler.hdfs !== undefined && <InHdfs of={straggler.hdfs} taskNs={straggler.duration_ns} />}
          <EvidenceList title={t('Causes')} list={straggler.causes} />
          <EvidenceList title={t('Near')} list={straggler.near} />
        </>
      )}
    </section>
  )
}
