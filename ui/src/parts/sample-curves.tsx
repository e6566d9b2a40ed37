// What a host was like, as curves: processor, busiest disk, network, from the samples that plumb-bridge sends.

import type { VNode } from 'preact'
import type { SamplesAnswer } from '../api/hosts.ts'
import type { Band } from '../marks/bands.tsx'
import { Curve, type Line } from '../marks/curve.tsx'
import { t } from '../text/t.ts'
import { bytesPerS } from '../text/units.ts'
import { visible } from '../text/visible.ts'
import { curveData } from './data-of.ts'
import { Exported } from './export.tsx'

const percent = (share: number): string => `${Math.round(100 * share)} %`

function lineOf(of: SamplesAnswer, label: string, number: number, values: readonly number[]): Line {
  const since = of.since_time_ns ?? 0n
  const points = of.at.map((step, i) => ({
    time: since + (BigInt(2 * step + 1) * BigInt(of.step_ns ?? 1)) / 2n,
    value: values[i]!,
  }))
  return { label, className: `line-${number}`, points: points.filter((point) => point.value >= 0) }
}

/** Hosts are sampled at intervals that may be longer than a step. */
function intervalNs(of: SamplesAnswer): number {
  const gaps = of.at.slice(1).map((step, i) => step - of.at[i]!)
  return Math.max(1, Math.min(...gaps, Infinity) === Infinity ? 1 : Math.min(...gaps)) * (of.step_ns ?? 1)
}

/** period: what the axis has; undefined: as far as there are samples. */
export function SampleCurves(props: {
  of: SamplesAnswer
  period?: { readonly since: bigint; readonly until: bigint }
  bands?: readonly Band[]
}): VNode {
  const { of } = props
  const busy = of.user.map((user, i) => (user < 0 ? -1 : user + Math.max(0, of.system[i]!) + Math.max(0, of.steal[i]!)))
  // As far as there are samples: they are often of less than the period.
  const step = BigInt(of.step_ns ?? 1)
  const first = of.since_time_ns ?? 0n
  const common = {
    since: props.period?.since ?? first + BigInt(of.at[0] ?? 0) * step,
    until: props.period?.until ?? first + BigInt((of.at[of.at.length - 1] ?? 0) + 1) * step,
    stepNs: intervalNs(of),
    height: 120,
    bands: props.bands ?? [],
    choosesPeriod: props.period === undefined,
  }
  const shares = [
    lineOf(of, t('processor busy'), 0, busy),
    lineOf(of, t('waiting for disks'), 1, of.iowait),
    lineOf(
      of,
      t('busiest disk{more}', { more: of.disk_name === undefined ? '' : ` (${visible(of.disk_name)})` }),
      2,
      of.disk,
    ),
  ].filter((line) => line.points.length > 0)
  const rates = [lineOf(of, t('received'), 3, of.rx_bytes_per_s), lineOf(of, t('sent'), 4, of.tx_bytes_per_s)].filter(
    (line) => line.points.length > 0,
  )
  const ofHost = t('Processor and disks of {host}', { host: of.host })
  const network = t('Network of {host}', { host: of.host })
  return (
    <div class="columns">
      <Exported name={ofHost} data={() => curveData(shares, t('share'), percent)}>
        <Curve {...common} lines={shares} write={percent} least={1} label={ofHost} />
      </Exported>
      {rates.length > 0 && (
        <Exported name={network} data={() => curveData(rates, 'bytes/s', bytesPerS)}>
          <Curve {...common} lines={rates} write={bytesPerS} label={network} />
        </Exported>
      )}
    </div>
  )
}
