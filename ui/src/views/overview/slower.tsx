// Functions that became slower: this period against as long before.

import type { VNode } from 'preact'
import type { DiffAnswer } from '../../api/diff.ts'
import { linkTo } from '../../app/address.ts'
import { FunctionLink } from '../../parts/bits.tsx'
import { t } from '../../text/t.ts'
import { duration, durationSigned, percent } from '../../text/units.ts'
import { costsMore, slowerRows } from './slow.ts'

export function Slower({ answer, role }: { answer: DiffAnswer | undefined; role: string }): VNode {
  const rows = slowerRows(answer?.rows ?? [])
  if (rows.length === 0) return <></>
  return (
    <section>
      <h2>{t('Functions of {role} that are slower than as long before', { role })}</h2>
      <ul class="suspects slower-functions">
        {rows.map((row) => (
          <li key={`${row.function} ${row.role}`}>
            <FunctionLink of={row} />{' '}
            {t('{before} → {now} a call ({change}), {total} in all', {
              before: duration(row.a?.mean_ns ?? 0),
              now: duration(row.b?.mean_ns ?? 0),
              change: percent(row.mean_change_percent ?? 0),
              total: durationSigned(costsMore(row)),
            })}
          </li>
        ))}
      </ul>
      <p class="buttons">
        <a class="button" href={linkTo('diff')}>
          {t('All that changed')}
        </a>
      </p>
    </section>
  )
}
