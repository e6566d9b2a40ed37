// A call tree as an icicle: each call below its caller, as wide as its share. Elements, so that names can be read out,
// selected and reached by keys; a pattern has some hundred nodes at most.

import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { t } from '../text/t.ts'
import { layIcicle, weights, type Cell, type IcicleNode, type Width } from '../timeline/icicle.ts'
import { bytes, count, duration, share } from '../text/units.ts'
import { visible } from '../text/visible.ts'

const LEAST_WIDTH = 0.002
const ROW_PX = 24

function widthText(width: Width, weight: number, resolution: number): string {
  if (width === 'calls') return t('{weight} calls here and below', { weight: count(weight) })
  if (width === 'bytes') return t('{weight} here and below', { weight: bytes(weight) })
  return duration(weight, resolution)
}

export interface NamedNode extends IcicleNode {
  readonly function: string
  readonly role: string
  readonly resolution_ns: number
}

interface Props {
  readonly nodes: readonly NamedNode[]
  readonly width: Width
  readonly focus: number
  readonly chosen: number
  readonly onChoose: (node: number) => void
  readonly onFocus: (node: number) => void
  /** Instead of the role: a class that colours the cell, and what is said of it. */
  readonly tone?: (node: number) => { readonly className: string; readonly text: string }
}

/** The cell that an arrow key leads to. */
function neighbour(cells: readonly Cell[], at: number, key: string): number {
  const from = cells[at]!
  const middle = from.x + from.width / 2
  const near = (depth: number): number =>
    cells.reduce(
      (best, cell, i) =>
        cell.depth === depth && (best < 0 || distance(cell, middle) < distance(cells[best]!, middle)) ? i : best,
      -1,
    )
  if (key === 'ArrowUp') return near(from.depth - 1)
  if (key === 'ArrowDown') return near(from.depth + 1)
  const row = cells.flatMap((cell, i) => (cell.depth === from.depth ? [i] : []))
  const next = row.indexOf(at) + (key === 'ArrowRight' ? 1 : -1)
  return row[next] ?? -1
}

function distance(cell: Cell, x: number): number {
  return x < cell.x ? cell.x - x : x > cell.x + cell.width ? x - cell.x - cell.width : 0
}

export function Icicle({ nodes, width, focus, chosen, onChoose, onFocus, tone }: Props): VNode {
  const box = useRef<HTMLDivElement>(null)
  const cells = layIcicle(nodes, width, focus, LEAST_WIDTH)
  const sums = weights(nodes, width)
  const whole = focus >= 0 ? sums[focus]! : nodes.reduce((sum, node, i) => (node.depth === 0 ? sum + sums[i]! : sum), 0)
  const depth = Math.max(0, ...cells.map((cell) => cell.depth)) + 1
  const current = Math.max(
    0,
    cells.findIndex((cell) => cell.node === chosen),
  )

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!event.key.startsWith('Arrow')) return
    const to = neighbour(cells, current, event.key)
    if (to < 0) return
    event.preventDefault()
    onChoose(cells[to]!.node)
    ;(box.current?.children[to] as HTMLElement | undefined)?.focus()
  }
  return (
    <div
      class="icicle"
      ref={box}
      role="group"
      aria-label={t('Call tree: arrow keys move, Enter zooms')}
      style={{ height: `${depth * ROW_PX}px` }}
      onKeyDown={onKeyDown}
    >
      {cells.map((cell, i) => {
        const node = nodes[cell.node]!
        const toned = tone?.(cell.node)
        const text = `${visible(node.function)} (${node.role}): ${widthText(width, sums[cell.node]!, node.resolution_ns)}, ${share(sums[cell.node]!, whole)}${toned === undefined ? '' : `; ${toned.text}`}`
        return (
          <button
            key={cell.node}
            type="button"
            class={`cell ${toned?.className ?? `role-${node.role}`} ${cell.node === chosen ? 'chosen' : ''}`}
            style={{
              left: `${(cell.x * 100).toFixed(3)}%`,
              width: `calc(${(cell.width * 100).toFixed(3)}% - 1px)`,
              top: `${cell.depth * ROW_PX}px`,
            }}
            title={text}
            aria-label={text}
            tabIndex={i === current ? 0 : -1}
            onClick={() => onChoose(cell.node)}
            onDblClick={() => onFocus(cell.node)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') onFocus(cell.node)
            }}
          >
            {cell.width > 0.03 && visible(node.function)}
          </button>
        )
      })}
    </div>
  )
}
