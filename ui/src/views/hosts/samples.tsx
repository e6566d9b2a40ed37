// What a host was like: processor, busiest disk, network, from the samples that plumb-bridge sends.

import type { VNode } from 'preact'
import type { SamplesAnswer } from '../../api/hosts.ts'
import { value } from '../../app/address.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import type { Band } from '../../marks/bands.tsx'
import { SampleCurves } from '../../parts/sample-curves.tsx'
import { Shown } from '../../parts/states.tsx'
import { tx } from '../../text/t.ts'

export const samplesAsked = (host: string): Record<string, string | undefined> => ({
  host,
  ...askedPeriod(),
  step: value('step'),
})

export function Samples({ host, bands }: { host: string; bands: readonly Band[] }): VNode {
  const answer = useQuestion<SamplesAnswer>('samples', samplesAsked(host))
  return (
    <Shown answer={answer} lines={5}>
      {(data) =>
        data.at.length === 0 ? (
          <p class="more">
            {tx(
              'No samples of this host in this period. {link} sends those of sar, sadf, mpstat and iostat ({link2}).',
              { link: <code>plumb-bridge</code>, link2: <code>docs/spark.md</code> },
            )}
          </p>
        ) : (
          <SampleCurves of={data} bands={bands} />
        )
      }
    </Shown>
  )
}
