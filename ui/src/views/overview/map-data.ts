// The map of hosts and time as a table: a row for each host, a column for each step.

import type { MapAnswer } from '../../api/series.ts'
import { zone } from '../../app/choices.ts'
import type { ChartData } from '../../parts/csv.ts'
import { t } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { visible } from '../../text/visible.ts'
import { writeValue } from './fields.ts'
import { cellValue, layoutOf, timeOfStep } from './layout.ts'

export function mapData(answer: MapAnswer): ChartData {
  const { steps, medians } = layoutOf(answer)
  const all = Array.from({ length: steps }, (_, step) => step)
  return {
    head: [t('host'), t('times the peers'), ...all.map((step) => dayTime(timeOfStep(answer, step), zone.value))],
    unit: answer.field,
    rows: [
      [t('median of hosts'), undefined, ...all.map((step) => medians[step])],
      ...answer.series.map((row) => [
        visible(row.host ?? ''),
        row.ratio?.toFixed(2),
        ...all.map((step) => cellValue(row, step)?.value),
      ]),
    ],
    write: (value) => writeValue(answer.field, value),
  }
}
