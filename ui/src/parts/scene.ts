// What a part of the page looks like, as a list of shapes: read from the page itself, so that every chart and table can
// be exported without code of its own. Two painters draw it: as SVG (scene-svg.ts), and on a canvas.

export type Shape =
  | { readonly kind: 'rect'; readonly box: Box; readonly radius: number; readonly fill: string }
  | {
      readonly kind: 'text'
      readonly box: Box
      readonly text: string
      readonly font: string
      readonly fill: string
      readonly clip: Box
    }
  | {
      readonly kind: 'path'
      readonly d: string
      readonly at: DOMMatrix
      readonly fill: string
      readonly stroke: string
      readonly width: number
      readonly dash: string
      readonly opacity: number
    }
  | { readonly kind: 'image'; readonly box: Box; readonly canvas: HTMLCanvasElement; readonly rendering: string }

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Scene {
  readonly width: number
  readonly height: number
  readonly ground: string
  readonly shapes: readonly Shape[]
}

const CLEAR = 'rgba(0, 0, 0, 0)'
const isUnseen = (style: CSSStyleDeclaration): boolean =>
  style.display === 'none' || style.visibility === 'hidden' || style.clipPath !== 'none'

function meet(a: Box, b: Box): Box {
  const x = Math.max(a.x, b.x)
  const y = Math.max(a.y, b.y)
  return {
    x,
    y,
    width: Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x),
    height: Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y),
  }
}

/** A shape of SVG as a path; undefined: a group, or something that has no outline. */
function outline(element: SVGElement): string | undefined {
  const of = (name: string): number => Number(element.getAttribute(name) ?? 0)
  switch (element.tagName) {
    case 'path':
      return element.getAttribute('d') ?? ''
    case 'line':
      return `M${of('x1')} ${of('y1')}L${of('x2')} ${of('y2')}`
    case 'rect':
      return `M${of('x')} ${of('y')}h${of('width')}v${of('height')}h${-of('width')}z`
    case 'circle': {
      const r = of('r')
      return `M${of('cx') - r} ${of('cy')}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`
    }
    default:
      return undefined
  }
}

class Reader {
  readonly shapes: Shape[] = []

  constructor(private readonly origin: { x: number; y: number }) {}

  private place(rect: DOMRect): Box {
    return { x: rect.x - this.origin.x, y: rect.y - this.origin.y, width: rect.width, height: rect.height }
  }

  /** What is scrolled out of its box is not seen. */
  private ground(box: Box, style: CSSStyleDeclaration): void {
    if (box.width === 0 || box.height === 0) return
    this.shapes.push({ kind: 'rect', box, radius: parseFloat(style.borderRadius) || 0, fill: style.backgroundColor })
  }

  private vector(element: SVGElement, style: CSSStyleDeclaration): void {
    const d = outline(element)
    if (d === undefined) return
    const matrix = (element as SVGGraphicsElement).getScreenCTM()
    if (matrix === null) return
    const at = new DOMMatrix([matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f])
    at.e -= this.origin.x
    at.f -= this.origin.y
    this.shapes.push({
      kind: 'path',
      d,
      at,
      fill: style.fill,
      stroke: style.stroke,
      width: parseFloat(style.strokeWidth),
      dash: style.strokeDasharray === 'none' ? '' : style.strokeDasharray,
      opacity: Number(style.opacity),
    })
  }

  private text(node: Text, style: CSSStyleDeclaration, clip: Box, vector: boolean): void {
    const text = node.data.trim()
    if (text === '') return
    const range = document.createRange()
    range.selectNodeContents(node)
    const [rect] = range.getClientRects()
    if (rect === undefined) return
    const font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    this.shapes.push({ kind: 'text', box: this.place(rect), text, font, fill: vector ? style.fill : style.color, clip })
  }

  read(element: Element, clip: Box): void {
    const style = getComputedStyle(element)
    if (isUnseen(style) || element.hasAttribute('data-not-exported')) return
    const box = this.place(element.getBoundingClientRect())
    let within = clip
    if (element instanceof SVGElement && !(element instanceof SVGSVGElement)) this.vector(element, style)
    else if (element instanceof HTMLCanvasElement)
      this.shapes.push({ kind: 'image', box, canvas: element, rendering: style.imageRendering })
    else if (style.backgroundColor !== CLEAR) this.ground(meet(box, clip), style)
    if (style.overflowX === 'hidden') within = meet(clip, box)
    for (const child of element.childNodes) {
      if (child instanceof Element) this.read(child, within)
      else if (child instanceof Text && element.tagName !== 'title')
        this.text(child, style, within, element instanceof SVGElement)
    }
  }
}

/** All of it, also what has to be scrolled to. */
export function sceneOf(element: HTMLElement): Scene {
  const rect = element.getBoundingClientRect()
  const scrolled = [element, ...element.querySelectorAll<HTMLElement>('.scroll')]
  const width = Math.max(...scrolled.map((one) => one.scrollWidth))
  const reader = new Reader(rect)
  reader.read(element, { x: 0, y: 0, width: Infinity, height: Infinity })
  return {
    width,
    height: rect.height,
    ground: getComputedStyle(document.documentElement).getPropertyValue('--surface').trim(),
    shapes: reader.shapes,
  }
}

export function paintScene(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.ground
  context.fillRect(0, 0, scene.width, scene.height)
  for (const shape of scene.shapes) {
    context.save()
    paintShape(context, shape)
    context.restore()
  }
}

function paintShape(context: CanvasRenderingContext2D, shape: Shape): void {
  switch (shape.kind) {
    case 'rect':
      context.fillStyle = shape.fill
      context.beginPath()
      context.roundRect(shape.box.x, shape.box.y, shape.box.width, shape.box.height, shape.radius)
      context.fill()
      break
    case 'image':
      context.imageSmoothingEnabled = shape.rendering !== 'pixelated'
      context.drawImage(shape.canvas, shape.box.x, shape.box.y, shape.box.width, shape.box.height)
      break
    case 'text':
      if (Number.isFinite(shape.clip.width)) {
        context.beginPath()
        context.rect(shape.clip.x, shape.clip.y, shape.clip.width, shape.clip.height)
        context.clip()
      }
      context.font = shape.font
      context.fillStyle = shape.fill
      context.textBaseline = 'middle'
      context.fillText(shape.text, shape.box.x, shape.box.y + shape.box.height / 2)
      break
    case 'path': {
      context.setTransform(context.getTransform().multiply(shape.at))
      context.globalAlpha = shape.opacity
      const path = new Path2D(shape.d)
      if (shape.fill !== 'none') {
        context.fillStyle = shape.fill
        context.fill(path)
      }
      if (shape.stroke !== 'none') {
        context.strokeStyle = shape.stroke
        context.lineWidth = shape.width
        context.setLineDash(shape.dash === '' ? [] : shape.dash.split(',').map((part) => parseFloat(part)))
        context.stroke(path)
      }
    }
  }
}
