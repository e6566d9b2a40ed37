// Draws where calls lead from one process to another: an arrow from the caller's bar to the bar of what it calls.

import { colour } from '../../marks/canvas.tsx'
import { endOf } from '../../timeline/calls.ts'
import type { Crossing } from '../../timeline/crossings.ts'
import { BAR_PX, LINE_PX, gutterPx, type Frame, type Scale } from './frame.ts'
import { seenOf } from './shown.ts'

const HEAD_PX = 7
const HEAD_TURN = 0.6

interface Arrow {
  readonly fromX: number
  readonly fromY: number
  readonly toX: number
  readonly toY: number
}

/** When the call begins; of clocks that differ from the nearest point of the caller. undefined: both are in one bar. */
function arrowOf(frame: Frame, scale: Scale, crossing: Crossing): Arrow | undefined {
  const { trace } = frame.shown
  const [from, to] = [seenOf(frame.shown, crossing.from), seenOf(frame.shown, crossing.to)]
  if (from === to) return undefined
  const begin = trace.calls.begin[to]!
  const leaves = Math.min(Math.max(begin, trace.calls.begin[from]!), endOf(trace.calls, from))
  const [above, below] = [trace.lines.line[from]!, trace.lines.line[to]!].map((line) => line * LINE_PX - frame.top)
  const down = below! > above!
  return {
    fromX: Math.round(scale.x(leaves)),
    fromY: down ? above! + BAR_PX : above!,
    toX: Math.round(scale.x(begin)),
    toY: down ? below! : below! + BAR_PX,
  }
}

function tracePath(context: CanvasRenderingContext2D, { fromX, fromY, toX, toY }: Arrow): void {
  const angle = Math.atan2(toY - fromY, toX - fromX)
  const side = (turn: number): [number, number] => [
    toX - HEAD_PX * Math.cos(angle + turn),
    toY - HEAD_PX * Math.sin(angle + turn),
  ]
  context.beginPath()
  context.moveTo(fromX, fromY)
  context.lineTo(toX, toY)
  context.moveTo(...side(HEAD_TURN))
  context.lineTo(toX, toY)
  context.lineTo(...side(-HEAD_TURN))
}

/** On a band of the ground, so that it is seen on bars, too. */
function drawArrow(context: CanvasRenderingContext2D, arrow: Arrow, tone: string, ground: string): void {
  tracePath(context, arrow)
  context.lineWidth = 4
  context.strokeStyle = ground
  context.stroke()
  context.lineWidth = 2
  context.strokeStyle = tone
  context.stroke()
}

/** Those on the way to the chosen call stand out, those below it are softer. */
export function drawArrows(context: CanvasRenderingContext2D, frame: Frame, scale: Scale, width: number): void {
  const { above, below } = frame.shown.crossings
  const ground = colour('surface')
  context.save()
  context.beginPath()
  context.rect(gutterPx(), 0, width - gutterPx(), context.canvas.height)
  context.clip()
  const draw = (crossings: readonly Crossing[], tone: string): void => {
    for (const crossing of crossings) {
      const arrow = arrowOf(frame, scale, crossing)
      if (arrow !== undefined) drawArrow(context, arrow, tone, ground)
    }
  }
  draw(below, colour('text-soft'))
  draw(above, colour('text'))
  context.restore()
}
