// Draws the cells of the map, once for each answer.

import { colour } from '../../marks/canvas.tsx'
import { visible } from '../../text/visible.ts'
import { palette, type Scheme } from './colours.ts'
import { RIGHT, cellWidth, leftOf, shareOf, type Layout } from './layout.ts'

/** Thin lines: a pixel a cell, which the page draws larger. So many rectangles would take a second. */
export function paintLines(context: CanvasRenderingContext2D, layout: Layout, scheme: Scheme): void {
  const { rows, steps } = layout
  const colours = palette(scheme)
  const image = new ImageData(steps, rows.length)
  rows.forEach((row, number) => {
    for (let i = 0; i < row.at.length; i++) {
      const step = row.at[i]!
      if (step >= steps) continue
      const pixel = 4 * (number * steps + step)
      const [red, green, blue] = colours(shareOf(layout, scheme, step, row.values[i]!))
      image.data[pixel] = red
      image.data[pixel + 1] = green
      image.data[pixel + 2] = blue
      image.data[pixel + 3] = 255
    }
  })
  context.putImageData(image, 0, 0)
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

export function paintRows(context: CanvasRenderingContext2D, layout: Layout, width: number, scheme: Scheme): void {
  const colours = palette(scheme)
  const colourOf = (step: number, value: number): string =>
    `rgb(${colours(shareOf(layout, scheme, step, value)).join(' ')})`
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`
  for (let row = 0; row < layout.rows.length; row++) paintRow(context, layout, row, width, colourOf)
}
