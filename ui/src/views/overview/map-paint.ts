// Draws the map: what belongs to the answer once, what follows the pointer on a canvas above it.

import type { MapAnswer } from '../../api/series.ts'
import { zone } from '../../app/choices.ts'
import type { Band } from '../../marks/bands.tsx'
import { colour } from '../../marks/canvas.tsx'
import { axisTime, ticks } from '../../text/times.ts'
import { visible } from '../../text/visible.ts'
import { palette, type Scheme } from './colours.ts'
import { BOTTOM, RIGHT, ROW_PX, cellWidth, leftOf, shareOf, type Cell, type Layout } from './layout.ts'

/** Thin lines: a pixel a cell, drawn larger. So many rectangles would take a second. */
function paintLines(context: CanvasRenderingContext2D, layout: Layout, width: number, scheme: Scheme): void {
  const { rows, steps, rowPx } = layout
  const colours = palette(scheme)
  const small = new OffscreenCanvas(steps, rows.length)
  const image = new ImageData(steps, rows.length)
  rows.forEach((row, number) => {
    for (let i = 0; i < row.at.length; i++) {
      const pixel = 4 * (number * steps + row.at[i]!)
      const [red, green, blue] = colours(shareOf(layout, scheme, row.at[i]!, row.values[i]!))
      image.data[pixel] = red
      image.data[pixel + 1] = green
      image.data[pixel + 2] = blue
      image.data[pixel + 3] = 255
    }
  })
  small.getContext('2d')!.putImageData(image, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(small, leftOf(width), 0, width - leftOf(width) - RIGHT, rows.length * rowPx)
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  let shown = text
  while (shown.length > 4 && context.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`
  return shown
}

/** With the host's name, and how it is to its peers in all. */
function paintRow(
  context: CanvasRenderingContext2D,
  layout: Layout,
  number: number,
  width: number,
  colourOf: (step: number, value: number) => string,
): void {
  const row = layout.rows[number]!
  const cell = cellWidth(layout, width)
  const top = number * layout.rowPx
  for (let i = 0; i < row.at.length; i++) {
    context.fillStyle = colourOf(row.at[i]!, row.values[i]!)
    context.fillRect(leftOf(width) + row.at[i]! * cell, top + 0.5, Math.max(1, cell - 0.6), layout.rowPx - 1)
  }
  context.fillStyle = colour('text')
  context.textAlign = 'right'
  context.fillText(fitted(context, visible(row.host ?? ''), leftOf(width) - 16), leftOf(width) - 8, top + 14)
  context.textAlign = 'left'
  context.fillStyle = colour((row.ratio ?? 0) >= 1.5 ? 'slower' : 'text-soft')
  if (row.ratio !== undefined) context.fillText(`× ${row.ratio.toFixed(2)}`, width - RIGHT + 8, top + 14)
}

export function paintCells(context: CanvasRenderingContext2D, layout: Layout, width: number, scheme: Scheme): void {
  if (layout.rowPx < ROW_PX) {
    paintLines(context, layout, width, scheme)
    return
  }
  const colours = palette(scheme)
  const colourOf = (step: number, value: number): string =>
    `rgb(${colours(shareOf(layout, scheme, step, value)).join(' ')})`
  for (let row = 0; row < layout.rows.length; row++) paintRow(context, layout, row, width, colourOf)
}

export function paintAxis(context: CanvasRenderingContext2D, answer: MapAnswer, width: number, height: number): void {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const { at, step } = ticks(since, until, Math.max(2, Math.floor((width - leftOf(width)) / 100)))
  context.fillStyle = colour('text-soft')
  context.textAlign = 'center'
  for (const ns of at) {
    const x = leftOf(width) + (Number(ns - since) / Number(until - since)) * (width - leftOf(width) - RIGHT)
    context.fillRect(x, height - BOTTOM, 1, 4)
    context.fillText(axisTime(ns, zone.value, step), x, height - 6)
  }
}

export function paintFrame(
  context: CanvasRenderingContext2D,
  layout: Layout,
  at: Cell | undefined,
  name: string,
): void {
  if (at === undefined) return
  const width = context.canvas.clientWidth
  const cell = cellWidth(layout, width)
  context.strokeStyle = colour(name)
  context.lineWidth = 2
  const top = at.row * layout.rowPx + 1
  context.strokeRect(leftOf(width) + at.step * cell, top, Math.max(3, cell - 1), layout.rowPx - 2)
}

export function paintDragged(
  context: CanvasRenderingContext2D,
  layout: Layout,
  [first, last]: readonly [number, number],
  width: number,
): void {
  const cell = cellWidth(layout, width)
  context.globalAlpha = 0.2
  context.fillStyle = colour('accent')
  context.fillRect(leftOf(width) + first * cell, 0, (last + 1 - first) * cell, layout.rows.length * layout.rowPx)
  context.globalAlpha = 1
}

/** A bar over the row of its host, or over all rows, from its begin to its end; a line for a moment. */
export function paintBands(
  context: CanvasRenderingContext2D,
  layout: Layout,
  answer: MapAnswer,
  bands: readonly Band[],
  width: number,
): void {
  const [since, until] = [answer.since_time_ns!, answer.until_time_ns!]
  const [left, inner] = [leftOf(width), width - leftOf(width) - RIGHT]
  const x = (time: bigint): number =>
    left + inner * Math.min(1, Math.max(0, Number(time - since) / Math.max(1, Number(until - since))))
  context.fillStyle = colour('text')
  for (const band of bands.filter((one) => one.end >= since && one.begin <= until)) {
    const row = band.host === undefined ? 0 : layout.rows.findIndex((one) => one.host === band.host)
    if (row < 0) continue
    const [top, rows] = [row * layout.rowPx, band.host === undefined ? layout.rows.length : 1]
    const [begin, end] = [x(band.begin), x(band.end)]
    context.fillRect(begin - 1, top, 2, rows * layout.rowPx)
    context.fillRect(begin, top, Math.max(2, end - begin), 2)
    if (band.end > band.begin) context.fillRect(end - 1, top, 2, rows * layout.rowPx)
  }
}
