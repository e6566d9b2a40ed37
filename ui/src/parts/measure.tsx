// All that is known of a function's or a node's calls.

import type { VNode } from 'preact'
import type { Measure } from '../api/answers.ts'
import { t } from '../text/t.ts'
import { bytes, bytesPerS, count, duration, meanResolution } from '../text/units.ts'

export function factsOf(of: Measure): [string, string][] {
  const about = of.exact_quantiles === false ? '~' : ''
  const time = (ns: number): string => duration(ns, of.resolution_ns)
  const facts: [string, string][] = [
    [t('calls'), count(of.calls)],
    [t('mean'), duration(of.mean_ns, meanResolution(of.resolution_ns, of.calls))],
    [t('deviation'), time(of.std_ns)],
  ]
  if (of.min_ns !== undefined)
    facts.push(
      [t('least'), time(of.min_ns)],
      [t('median'), about + time(of.q50_ns!)],
      ['95 %', about + time(of.q95_ns!)],
      ['99 %', about + time(of.q99_ns!)],
      [t('most'), time(of.max_ns!)],
    )
  facts.push([t('total'), time(of.total_ns)], [t('self'), time(of.self_ns)], [t('critical'), time(of.critical_ns)])
  if (of.bytes) facts.push([t('bytes'), bytes(of.bytes.total_bytes)], [t('bytes a call'), bytes(of.bytes.mean_bytes)])
  if (of.rate) facts.push([t('rate'), bytesPerS(of.rate.mean_bytes_per_s)])
  return facts
}

export function Facts({ facts }: { facts: readonly (readonly [string, VNode | string])[] }): VNode {
  return (
    <dl class="facts">
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}
