// A table whose columns sort, by the API's own names of fields. Numbers stand right.

import type { ComponentChildren, VNode } from 'preact'
import { Fragment } from 'preact'
import { go, value } from '../app/address.ts'
import { Exported } from './export.tsx'

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
  return (
    <Exported name={props.label} table>
      <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
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
            {props.rows.map((row) => (
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
