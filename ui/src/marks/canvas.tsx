// A canvas that is as large as its box, sharp on every screen, and drawn again when anything of it changes.

import type { CanvasHTMLAttributes, VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { darkNow, theme } from '../app/choices.ts'

/** Pixels of the screen to a side: larger ones some browsers leave empty. */
const MOST = 16_384

export type Painter = (context: CanvasRenderingContext2D, width: number, height: number) => void

/** A variable of the theme (style.css). */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

const colours = (): string => `${theme.value} ${String(darkNow.value)}`

export function Canvas({
  height,
  paint,
  ...more
}: { height: number; paint: Painter } & Omit<CanvasHTMLAttributes, 'height'>): VNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = canvas.current!
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [])
  const shown = colours()
  useLayoutEffect(() => {
    const element = canvas.current!
    const context = element.getContext('2d')
    if (context === null || width === 0) return
    const ratio = Math.min(devicePixelRatio, MOST / Math.max(width, height))
    element.width = Math.round(width * ratio)
    element.height = Math.round(height * ratio)
    context.scale(ratio, ratio)
    paint(context, width, height)
  }, [width, height, paint, shown])
  return <canvas ref={canvas} style={{ height: `${height}px` }} {...more} />
}

/** A canvas of so many pixels, whatever its box, which has each as a rectangle with sharp edges. */
export function Pixels({
  paint,
  ...more
}: { paint: (context: CanvasRenderingContext2D) => void } & CanvasHTMLAttributes): VNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const context = canvas.current!.getContext('2d')
    if (context !== null) paint(context)
  }, [paint, colours()])
  return <canvas ref={canvas} class="pixels" {...more} />
}
