// A scene as a file of SVG.

import type { Box, Scene, Shape } from './scene.ts'

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]!)

const boxed = (box: Box): string =>
  `x="${box.x.toFixed(1)}" y="${box.y.toFixed(1)}" width="${box.width.toFixed(1)}" height="${box.height.toFixed(1)}"`

function shapeSvg(shape: Shape, number: number): string {
  switch (shape.kind) {
    case 'rect':
      return `<rect ${boxed(shape.box)} rx="${shape.radius}" fill="${escaped(shape.fill)}"/>`
    case 'image':
      return `<image ${boxed(shape.box)} preserveAspectRatio="none" style="image-rendering:${shape.rendering}" href="${shape.canvas.toDataURL()}"/>`
    case 'text': {
      const middle = (shape.box.y + shape.box.height / 2).toFixed(1)
      const text = `<text x="${shape.box.x.toFixed(1)}" y="${middle}" dominant-baseline="central" style="font:${escaped(shape.font)}" fill="${escaped(shape.fill)}">${escaped(shape.text)}</text>`
      if (!Number.isFinite(shape.clip.width)) return text
      return `<clipPath id="c${number}"><rect ${boxed(shape.clip)}/></clipPath><g clip-path="url(#c${number})">${text}</g>`
    }
    case 'path': {
      const { a, b, c, d, e, f } = shape.at
      const at = [a, b, c, d, e, f].map((part) => Number(part.toFixed(3))).join(' ')
      const dash = shape.dash === '' ? '' : ` stroke-dasharray="${shape.dash}"`
      return `<path d="${shape.d}" transform="matrix(${at})" fill="${escaped(shape.fill)}" stroke="${escaped(shape.stroke)}" stroke-width="${shape.width}" opacity="${shape.opacity}"${dash}/>`
    }
  }
}

export function sceneSvg(scene: Scene): string {
  const [width, height] = [Math.ceil(scene.width), Math.ceil(scene.height)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" fill="${escaped(scene.ground)}"/>`,
    ...scene.shapes.map(shapeSvg),
    '</svg>\n',
  ].join('\n')
}
