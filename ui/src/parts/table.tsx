// A table whose columns sort, by the API's own names of fields. Numbers stand right.

import type { ComponentChildren, VNode } from 'preact'
import { Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import { go, value } from '../app/address.ts'
import { live } from '../app/live.ts'
import { Exported } from './export.tsx'
import { inOrderOf } from './order.ts'

export interface Column<T> {
  readonly key: string
  readonly head: string
  readonly title?: string
  /** What to sort by; none: it does not sort. */
  readonly sort?: string
  readonly text?: boolean
  readonly cell: (row: T) => ComponentChildren
}

function Head<T>({ column, sorted }: { column: Column<T>; sorted: string }): VNode {
  const by = column.sort
  const active = by !== undefined && by === sorted
  return (
    <th
      scope="col"
      class={column.text ? 'text' : ''}
      {...(active ? { 'aria-sort': column.text ? 'ascending' : 'descending' } : {})}
    >
      {by === undefined ? (
        <span title={column.title}>{column.head}</span>
      ) : (
        <button type="button" title={column.title} onClick={() => go({ sort: by })}>
          {column.head}
          {active && <span aria-hidden="true">{column.text ? ' ▲' : ' ▼'}</span>}
        </button>
      )}
    </th>
  )
}

/** While the page is live, rows stay in their order where a reader's pointer or focus is: new ones come behind. */
function useHeldRows<T>(rows: readonly T[], keyOf: (row: T) => string, sorted: string) {
  const box = useRef<HTMLDivElement>(null)
  const shown = useRef({ sorted, keys: [] as readonly string[] })
  const isHeld = (): boolean => box.current?.matches(':hover, :focus-within') === true
  const held = live.value && shown.current.sorted === sorted && isHeld()
  const ordered = held ? inOrderOf(shown.current.keys, rows, keyOf) : rows
  shown.current = { sorted, keys: ordered.map(keyOf) }
  return { box, ordered }
}

export function Table<T>(props: {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  defaultSort?: string
  /** Below the row that is open. */
  detail?: (row: T) => ComponentChildren
  open?: (row: T) => boolean
  rowClass?: (row: T) => string
}): VNode {
  const sorted = value('sort') ?? props.defaultSort ?? ''
  const { box, ordered } = useHeldRows(props.rows, props.rowKey, sorted)
  return (
    <Exported name={props.label} table>
      <div class="scroll" tabIndex={0} role="region" aria-label={props.label} ref={box}>
        <table>
          <caption class="unseen">{props.label}</caption>
          <thead>
            <tr>
              {props.columns.map((column) => (
                <Head key={column.key} column={column} sorted={sorted} />
              ))}
            </tr>
          </thead>
          <tbody>
            {ordered.map((row) => (
              <Fragment key={props.rowKey(row)}>
                <tr class={props.rowClass?.(row) ?? ''}>
                  {props.columns.map((column) => (
                    <td key={column.key} class={column.text ? 'text' : ''}>
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
                {props.open?.(row) === true && (
                  <tr class="detail">
                    <td colSpan={props.columns.length}>{props.detail?.(row)}</td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </Exported>
  )
}
