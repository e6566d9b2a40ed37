// What went on while the map was measured: what was done to the hosts, and applications of Spark.

import type { VNode } from 'preact'
import type { MapAnswer } from '../../api/series.ts'
import type { Mark } from '../../api/marks.ts'
import type { AppRow, AppsAnswer } from '../../api/spark.ts'
import { linkTo } from '../../app/address.ts'
import { nowNs } from '../../app/period.ts'
import { Lanes, type LaneBar } from '../../parts/lanes.tsx'
import { groupsOfMarks, MarkList } from '../../parts/marks.tsx'
import { t } from '../../text/t.ts'
import { duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'

const APPS = 20

interface Period {
  readonly since: bigint
  readonly until: bigint
}

function barsOf(row: AppRow, period: Period): (LaneBar & { readonly href: string })[] {
  if (row.begin_time_ns === undefined) return []
  const end = row.duration_ns === undefined ? nowNs() : row.begin_time_ns + BigInt(Math.round(row.duration_ns))
  if (row.begin_time_ns > period.until || end < period.since) return []
  const name = visible(row.name ?? row.id)
  return [
    {
      key: row.app,
      begin: row.begin_time_ns,
      end,
      label: t('application {name}, {state}: {duration}', {
        name,
        state: word(row.state),
        duration: duration(Number(end - row.begin_time_ns)),
      }),
      text: name,
      className: 'fine',
      href: linkTo('app', row.app),
      chosen: false,
    },
  ]
}

export function Meanwhile(props: {
  answer: MapAnswer
  marks: readonly Mark[] | undefined
  apps: AppsAnswer | undefined
}): VNode {
  const { answer, marks, apps } = props
  const period = { since: answer.since_time_ns!, until: answer.until_time_ns! }
  const ran = (apps?.apps ?? []).flatMap((row) => barsOf(row, period)).slice(0, APPS)
  const groups = [...groupsOfMarks(marks), { name: t('applications'), bars: ran }].filter(
    (group) => group.bars.length > 0,
  )
  if (groups.length === 0) return <></>
  return (
    <section>
      <h2>{t('Meanwhile')}</h2>
      <Lanes label={t('What was done, and what ran')} groups={groups} period={period} />
      {marks !== undefined && marks.length > 0 && <MarkList marks={marks} />}
      {ran.length > 0 && (
        <ul class="mark-list" aria-label={t('applications')}>
          {ran.map((bar) => (
            <li key={bar.key}>
              <a href={bar.href}>
                <bdi>{bar.label}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
