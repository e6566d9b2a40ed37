// What curves and histograms draw, as tables.

import { zone } from '../app/choices.ts'
import type { Line } from '../marks/curve.tsx'
import type { Layer } from '../marks/histogram.tsx'
import { t } from '../text/t.ts'
import { dayTime } from '../text/times.ts'
import { share } from '../text/units.ts'
import type { ChartData } from './csv.ts'

/** A row for each time at which a line has a point. */
export function curveData(lines: readonly Line[], unit: string, write: (value: number) => string): ChartData {
  const values = lines.map((line) => new Map(line.points.map((point) => [point.time, point.value])))
  const times = [...new Set(values.flatMap((line) => [...line.keys()]))].sort((a, b) => (a < b ? -1 : 1))
  return {
    head: [t('time'), ...lines.map((line) => line.label)],
    unit,
    rows: times.map((time) => [dayTime(time, zone.value), ...values.map((line) => line.get(time))]),
    write,
  }
}

/** A row for each bin: what share of a layer's calls it has. */
export function histogramData(
  edges: readonly number[],
  layers: readonly Layer[],
  write: (edge: number) => string,
): ChartData {
  return {
    head: [t('range'), ...layers.map((layer) => layer.label)],
    unit: t('share'),
    rows: edges
      .slice(0, -1)
      .map((edge, bin) => [
        t('{least} to {most}', { least: write(edge), most: write(edges[bin + 1]!) }),
        ...layers.map((layer) => layer.shares[bin] ?? 0),
      ]),
    write: (value) => share(value, 1),
  }
}
