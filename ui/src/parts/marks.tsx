// What was done to the hosts, as bands of charts, bars of lanes, and words.

import type { VNode } from 'preact'
import type { Mark } from '../api/marks.ts'
import { zone } from '../app/choices.ts'
import type { Band } from '../marks/bands.tsx'
import { t } from '../text/t.ts'
import { dayTime } from '../text/times.ts'
import { age } from '../text/units.ts'
import { visible } from '../text/visible.ts'
import type { Group } from './lanes.tsx'

const lengthOf = (mark: Mark): number => Number((mark.end_time_ns ?? mark.begin_time_ns) - mark.begin_time_ns)

const hostOf = (mark: Mark): string => (mark.host === undefined ? t('all hosts') : visible(mark.host))

function labelOf(mark: Mark): string {
  const lasted = mark.end_time_ns === undefined ? '' : t(', for {duration}', { duration: age(lengthOf(mark)) })
  return t('{kind} on {host} at {time}{lasted}: {text}', {
    kind: visible(mark.kind ?? ''),
    host: hostOf(mark),
    time: dayTime(mark.begin_time_ns, zone.value),
    lasted,
    text: visible(mark.text ?? ''),
  })
}

export function bandsOf(marks: readonly Mark[] | undefined): Band[] {
  return (marks ?? []).map((mark) => ({
    key: `${mark.begin_time_ns} ${mark.host ?? ''} ${mark.kind ?? ''}`,
    begin: mark.begin_time_ns,
    end: mark.end_time_ns ?? mark.begin_time_ns,
    label: labelOf(mark),
    host: mark.host,
  }))
}

/** Empty: no group. */
export function groupsOfMarks(marks: readonly Mark[] | undefined): Group[] {
  if (marks === undefined || marks.length === 0) return []
  const bars = bandsOf(marks).map((band, i) => ({
    ...band,
    text: `${visible(marks[i]!.kind ?? '')} ${hostOf(marks[i]!)}`,
    className: 'mark-bar',
    chosen: false,
  }))
  return [{ name: t('what was done'), bars }]
}

export function MarkList({ marks }: { marks: readonly Mark[] }): VNode {
  return (
    <ul class="mark-list">
      {marks.map((mark) => (
        <li key={`${mark.begin_time_ns} ${mark.host ?? ''} ${mark.kind ?? ''}`}>
          <bdi>{labelOf(mark)}</bdi>
        </li>
      ))}
    </ul>
  )
}
