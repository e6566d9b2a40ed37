// What a chart draws, as a table: for who cannot see the drawing, and for other programs.

import type { VNode } from 'preact'
import { t, tx } from '../text/t.ts'
import { count } from '../text/units.ts'
import type { ChartData } from './csv.ts'

/** More cells hold a browser up; CSV has them all. */
const MOST_CELLS = 8000

const DAY = /^\d{4}-\d\d-\d\d (?=\d\d:)/

/** Of times of one day the day is said once, in the first head. */
function shortHead(head: readonly string[]): readonly string[] {
  const days = new Set(head.flatMap((text) => DAY.exec(text)?.[0] ?? []))
  if (days.size !== 1) return head
  return head.map((text, i) => (i === 0 ? `${text}, ${[...days][0]!.trim()}` : text.replace(DAY, '')))
}

export function DataTable({ name, data }: { name: string; data: ChartData }): VNode {
  const { head, rows, write } = data
  const shown = rows.slice(0, Math.max(1, Math.floor(MOST_CELLS / Math.max(1, head.length))))
  return (
    <>
      <div class="scroll chart-data" tabIndex={0} role="region" aria-label={t('{name} as a table', { name })}>
        <table>
          <caption class="unseen">{name}</caption>
          <thead>
            <tr>
              {shortHead(head).map((text, i) => (
                <th key={i} scope="col" class={i === 0 ? 'text' : ''}>
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                <th scope="row" class="text">
                  <bdi>{row[0]}</bdi>
                </th>
                {row.slice(1).map((cell, column) => (
                  <td key={column} class={typeof cell === 'string' ? 'text' : ''}>
                    {typeof cell === 'number' ? write(cell) : (cell ?? '')}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.length && (
        <p class="more">{tx('{more} more rows are in the CSV.', { more: count(rows.length - shown.length) })}</p>
      )}
    </>
  )
}
