// What the JVM was like at the instances on top: centres of k-means beside the mean of all others.

import type { VNode } from 'preact'
import type { StageOperations } from '../../api/operations.ts'
import { Parallel, type Strand } from '../../marks/parallel.tsx'
import type { ChartData } from '../../parts/csv.ts'
import { Exported } from '../../parts/export.tsx'
import { t } from '../../text/t.ts'
import { count } from '../../text/units.ts'

const AXES = 9

const dataOf = (axes: readonly string[], strands: readonly Strand[]): ChartData => ({
  head: [t('group'), ...axes],
  unit: '',
  rows: strands.map((strand) => [strand.label, ...strand.values]),
  write: (value) => value.toFixed(2),
})

export function Clusters({ of }: { of: StageOperations }): VNode {
  const clusters = of.clusters
  if (clusters === undefined) return <></>
  const apart = clusters.apart ?? {}
  const known = (name: string): boolean => clusters.centres.some(({ centre }) => (centre[name] ?? 0) > 0)
  const axes = Object.keys(apart)
    .filter(known)
    .sort((a, b) => apart[b]! - apart[a]!)
    .slice(0, AXES)
  if (axes.length === 0) return <></>
  const strands: Strand[] = clusters.centres.map(({ instances, centre }, i) => ({
    label: t('group {more} ({instances} on top)', { more: i + 1, instances: count(instances) }),
    className: `line-${i}`,
    values: axes.map((name) => centre[name]),
  }))
  if (clusters.others)
    strands.push({
      label: t('all others'),
      className: 'line-others',
      values: axes.map((name) => clusters.others![name]),
    })
  return (
    <>
      <h3>{t('The JVM at the instances on top')}</h3>
      <p class="quiet-text">
        {t('Each axis from the least to the most that was seen; the axis that tells most apart stands first.')}
      </p>
      <Exported name={t('State of the JVM by group')} data={() => dataOf(axes, strands)}>
        <Parallel axes={axes} strands={strands} label={t('State of the JVM by group')} />
      </Exported>
    </>
  )
}
