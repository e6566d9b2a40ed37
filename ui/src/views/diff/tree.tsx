// Two trees as one: an icicle coloured by change, over the table of its calls.

import type { VNode } from 'preact'
import type { Measure } from '../../api/answers.ts'
import type { DiffRow } from '../../api/diff.ts'
import { go, refine, value } from '../../app/address.ts'
import { Name } from '../../parts/bits.tsx'
import { ChangeWord, changeText, toneOf, zText } from '../../parts/change.tsx'
import { Exported } from '../../parts/export.tsx'
import { Icicle, type NamedNode } from '../../parts/icicle.tsx'
import { t } from '../../text/t.ts'
import { count, duration, meanResolution } from '../../text/units.ts'

export const mean = (of: Measure | undefined): string =>
  of === undefined ? '-' : duration(of.mean_ns, meanResolution(of.resolution_ns, of.calls))

/** As wide as the slower of both: what is gone is seen, too. */
function nodeOf(row: DiffRow): NamedNode {
  const widest = (row.b?.total_ns ?? 0) >= (row.a?.total_ns ?? 0) ? (row.b ?? row.a) : row.a
  return {
    depth: row.depth ?? 0,
    function: row.function,
    role: row.role,
    calls: widest?.calls ?? 0,
    total_ns: widest?.total_ns ?? 0,
    self_ns: widest?.self_ns ?? 0,
    critical_ns: widest?.critical_ns ?? 0,
    resolution_ns: widest?.resolution_ns ?? 1,
  }
}

function Row({ row, number, chosen }: { row: DiffRow; number: number; chosen: boolean }): VNode {
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <td class="text">
        <button
          type="button"
          class="plain"
          style={{ paddingLeft: `${(row.depth ?? 0) * 16}px` }}
          onClick={() => refine({ sel: String(number) })}
        >
          <Name text={row.function} role={row.role} />
        </button>
      </td>
      <td class="text">
        <ChangeWord state={row.state} />
      </td>
      <td>{mean(row.a)}</td>
      <td>{mean(row.b)}</td>
      <td>{row.a && row.b ? changeText(row) : '-'}</td>
      <td>{count(row.a?.calls ?? 0)}</td>
      <td>{count(row.b?.calls ?? 0)}</td>
      <td>{zText(row.z)}</td>
    </tr>
  )
}

export function TreeDiff({ rows }: { rows: readonly DiffRow[] }): VNode {
  const nodes = rows.map(nodeOf)
  const within = (name: string): number => {
    const number = Number(value(name) ?? '-1')
    return Number.isInteger(number) && number >= 0 && number < rows.length ? number : -1
  }
  const chosen = Math.max(0, within('sel'))
  return (
    <>
      <p class="legend-line quiet-text">
        <span class="ramp peers" aria-hidden="true" />{' '}
        {t(
          'a quarter of the mean, the same, four times · as wide as the longer of both · dashed: only before, or only after',
        )}
      </p>
      <Exported name="tree">
        <Icicle
          nodes={nodes}
          width="total"
          focus={within('focus')}
          chosen={chosen}
          onChoose={(node) => refine({ sel: String(node) })}
          onFocus={(node) => go({ focus: node === 0 ? undefined : String(node) })}
          tone={(node) => toneOf(rows[node]!)}
        />
      </Exported>
      <Exported name="calls" table>
        <div class="scroll" tabIndex={0} role="region" aria-label={t('Calls')}>
          <table class="tree">
            <caption class="unseen">{t('Calls')}</caption>
            <thead>
              <tr>
                {[t('call'), t('change')].map((head) => (
                  <th key={head} scope="col" class="text">
                    {head}
                  </th>
                ))}
                {[t('mean before'), t('mean after'), t('difference'), t('calls before'), t('calls after'), 'z'].map(
                  (head) => (
                    <th key={head} scope="col">
                      {head}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <Row key={i} row={row} number={i} chosen={i === chosen} />
              ))}
            </tbody>
          </table>
        </div>
      </Exported>
    </>
  )
}
