// How calls are spread: by duration, bytes, or bytes per second.

import type { VNode } from 'preact'
import type { DistributionAnswer } from '../api/answers.ts'
import { useQuestion } from '../app/question.ts'
import { Histogram } from '../marks/histogram.tsx'
import { t } from '../text/t.ts'
import { bytes, bytesPerS, duration } from '../text/units.ts'
import { histogramData } from './data-of.ts'
import { Exported } from './export.tsx'
import { Shown } from './states.tsx'

type Of = 'duration' | 'bytes' | 'rate'

export const WRITE: Readonly<Record<Of, (value: number) => string>> = {
  duration: (ns) => duration(ns).replace(/\.\d+/, ''),
  bytes,
  rate: bytesPerS,
}

const NAMES: Readonly<Record<Of, string>> = {
  duration: t('duration'),
  bytes: t('bytes'),
  rate: t('bytes per second'),
}

/** The whole period in one: the columns of the map, summed. */
function sharesOf(answer: DistributionAnswer): number[] {
  const counts = new Array<number>(Math.max(0, answer.edges.length - 1)).fill(0)
  let calls = 0
  for (const column of answer.columns) {
    calls += column.calls
    column.at.forEach((bin, i) => (counts[bin] = (counts[bin] ?? 0) + column.counts[i]!))
  }
  return counts.map((part) => part / Math.max(1, calls))
}

export function Spreading(props: { of: Of; data: DistributionAnswer; name: string; label: string }): VNode {
  const { of, data } = props
  const layers = [{ label: props.name, className: 'layer-one', shares: sharesOf(data) }]
  return (
    <Exported name={props.label} data={() => histogramData(data.edges, layers, WRITE[of])}>
      <Histogram edges={data.edges} layers={layers} write={WRITE[of]} label={props.label} />
    </Exported>
  )
}

/** What a distribution is asked of. */
export type SpreadAsked = Readonly<Record<string, string | undefined>>

export function Spread({ of, asked }: { of: Of; asked: SpreadAsked }): VNode {
  const answer = useQuestion<DistributionAnswer>('distribution', { ...asked, of })
  return (
    <Shown answer={answer} lines={3}>
      {(data) =>
        data.columns.length === 0 ? (
          <p class="more">{of === 'duration' ? t('No calls') : t('No call recorded bytes.')}</p>
        ) : (
          <Spreading of={of} data={data} name={NAMES[of]} label={t('How calls are spread by {of}', { of })} />
        )
      }
    </Shown>
  )
}
