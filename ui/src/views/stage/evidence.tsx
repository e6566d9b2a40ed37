// What was compared: the task's value as a bar, with its peers', the application's quantile and what was before and
// after it as ticks.

import type { VNode } from 'preact'
import type { Evidence } from '../../api/spark.ts'
import { t } from '../../text/t.ts'
import { bytes, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** As it is measured. */
function amount(evidence: Evidence, value: number): string {
  if (evidence.unit === 'ns') return duration(value)
  if (evidence.unit === 'ms') return duration(value * 1e6, 1e6)
  if (evidence.unit === 'bytes' || evidence.unit === 'B') return bytes(value)
  if (evidence.unit === 'share') return share(value, 1)
  return `${Number(value.toPrecision(3))} ${evidence.unit ?? ''}`.trim()
}

/** As it is compared: amounts as multiples of the stage's mean, times as a share of the task's. */
function compared(evidence: Evidence, value: number): string {
  if (evidence.kind === 'numeric') return t('{times} × the mean', { times: Number(value.toPrecision(3)) })
  if (evidence.kind === 'time' || evidence.kind === 'resource') return share(value, 1)
  return amount(evidence, value)
}

interface Tick {
  readonly className: string
  readonly label: string
  readonly value: number
}

function ticksOf(evidence: Evidence): Tick[] {
  const { other_hosts: elsewhere, same_host: here, quantile, before, after, bound } = evidence
  const ticks: (Tick | false)[] = [
    elsewhere !== undefined &&
      elsewhere.tasks > 0 && { className: 'elsewhere', label: t('other hosts'), value: elsewhere.median },
    here !== undefined && here.tasks > 0 && { className: 'here', label: t('same host'), value: here.median },
    quantile !== undefined && { className: 'quantile', label: t('quantile'), value: quantile },
    bound !== undefined && { className: 'quantile', label: t('bound'), value: bound },
    before !== undefined && { className: 'before', label: t('before it'), value: before },
    after !== undefined && { className: 'after', label: t('after it'), value: after },
  ]
  return ticks.filter((tick) => tick !== false)
}

function Bars({ evidence, ticks }: { evidence: Evidence; ticks: readonly Tick[] }): VNode {
  const value = evidence.value ?? 0
  const most = Math.max(value, ...ticks.map((tick) => tick.value), 1e-12) * 1.04
  const place = (of: number): string => `${Math.max(0, (100 * of) / most).toFixed(2)}%`
  return (
    <span class="evidence-bar" aria-hidden="true">
      <span class={evidence.verdict === 'cause' ? 'own cause' : 'own'} style={{ width: place(value) }} />
      {ticks.map((tick) => (
        <span key={tick.className} class={`tick ${tick.className}`} style={{ left: place(tick.value) }} />
      ))}
    </span>
  )
}

function One({ evidence }: { evidence: Evidence }): VNode {
  const ticks = ticksOf(evidence)
  const elsewhere = evidence.other_hosts
  const times =
    evidence.value !== undefined && elsewhere !== undefined && elsewhere.tasks > 0 && elsewhere.median > 0
      ? t(', × {times} of the median elsewhere', { times: (evidence.value / elsewhere.median).toFixed(1) })
      : ''
  return (
    <li>
      <b>{visible(evidence.feature)}</b>
      {evidence.measured !== undefined && ` ${amount(evidence, evidence.measured)}`}
      {times}
      {evidence.verdict !== 'cause' && ` (${evidence.verdict})`}
      {evidence.correlation !== undefined &&
        t(', correlation {correlation}', { correlation: evidence.correlation.toFixed(2) })}
      {evidence.value !== undefined && ticks.length > 0 && <Bars evidence={evidence} ticks={ticks} />}
      {ticks.length > 0 && (
        <span class="evidence-ticks quiet-text">
          {ticks.map((tick) => (
            <span key={tick.className}>
              <span class={`tick-sample ${tick.className}`} aria-hidden="true" /> {tick.label}{' '}
              {compared(evidence, tick.value)}
            </span>
          ))}
        </span>
      )}
    </li>
  )
}

export function EvidenceList({ title, list }: { title: string; list: readonly Evidence[] }): VNode {
  if (list.length === 0) return <></>
  return (
    <>
      <h4>{title}</h4>
      <ul class="annotations evidence">
        {list.map((one) => (
          <One key={one.feature} evidence={one} />
        ))}
      </ul>
    </>
  )
}
