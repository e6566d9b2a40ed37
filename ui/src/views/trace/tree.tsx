// The calls of a trace as rows: the tree at the left, time at the right. Only the rows that are seen are elements.

import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { value } from '../../app/address.ts'
import { t } from '../../text/t.ts'
import { hasChildren, shownRows, type Run, type ShownRows } from '../../timeline/rows.ts'
import { Row, ROW_PX } from './row.tsx'
import { Runs } from './runs.ts'
import { apply, commonKey, type Done, type Shown } from './shown.ts'
import { Axis } from './axis.tsx'

const ROWS_SEEN = 26
const SPARE_ROWS = 6
/** Larger traces come folded; what is opened is in the address instead of what is folded. */
export const FOLDED_FROM = 2000

const TOOLS = [
  ['ArrowLeft', t('Fold the chosen call'), '▸'],
  ['ArrowRight', t('Unfold it'), '▾'],
  ['_', t('Fold it and all below'), '▸▸'],
  ['*', t('Unfold it and all below'), '▾▾'],
  ['e', t('Equal siblings: one row for all, or a row each'), '×'],
  ['m', t('Sum what is shown'), 'Σ'],
] as const

/** What a key does with the rows focused. */
function keyAction(shown: Shown, rows: readonly number[], key: string): Done | undefined {
  const at = Math.max(0, rows.indexOf(shown.chosen))
  const move = (by: number): Done => ({ chosen: rows[Math.min(rows.length - 1, Math.max(0, at + by))]! })
  const moves: Readonly<Record<string, number>> = {
    j: 1,
    k: -1,
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: ROWS_SEEN - 2,
    PageUp: 2 - ROWS_SEEN,
    Home: -rows.length,
    End: rows.length,
  }
  if (moves[key] !== undefined) return move(moves[key])
  return commonKey(shown, key)
}

interface Seen extends ShownRows {
  readonly opened: Runs
}

/** The run that a key opens or closes: e that of the chosen call, right a closed one, left an open one at its first. */
function runOfKey({ runs, opened }: Seen, chosen: number, key: string, open: boolean): Run | undefined {
  if (key === 'e') return [...runs.values()].findLast((run) => run.first <= chosen && chosen < run.end)
  const run = runs.get(chosen)
  if (run === undefined) return undefined
  const isOpen = opened.isOpen(run)
  return (key === 'ArrowRight' && !isOpen) || (key === 'ArrowLeft' && isOpen && !open) ? run : undefined
}

/** Left folds, or leads to the caller; right unfolds, or leads to what it calls; * and _ do so with all below. */
function foldKey(shown: Shown, seen: Seen, key: string): Done | undefined {
  const { trace, chosen, folds } = shown
  const its = seen.runs.get(chosen)
  const isClosedRun = its !== undefined && !seen.opened.isOpen(its)
  const open = hasChildren(trace.tree.end, chosen) && !folds.has(chosen) && !isClosedRun
  const run = runOfKey(seen, chosen, key, open)
  if (run !== undefined) {
    seen.opened.toggle(run)
    return {}
  }
  if (key === '*' || key === '_') {
    folds.setBelow(chosen, key === '_')
    return {}
  }
  if (key === 'ArrowLeft' && !open) return { chosen: Math.max(trace.calls.parent[chosen]!, 0) }
  if (key === 'ArrowRight' && open) {
    const next = seen.rows[seen.rows.indexOf(chosen) + 1] ?? chosen
    return { chosen: next < trace.tree.end[chosen]! ? next : chosen } // all below it may be left out
  }
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined
  folds.toggle(chosen)
  return {}
}

function Head({ shown, act }: { shown: Shown; act: (key: string) => boolean }): VNode {
  return (
    <div class="timeline-head">
      <span class="tree-head">
        {t('call')}{' '}
        {TOOLS.map(([key, label, text]) => (
          <button key={key} type="button" class="small quiet" aria-label={label} title={label} onClick={() => act(key)}>
            {text}
          </button>
        ))}
      </span>
      <Axis shown={shown} />
    </div>
  )
}

export function TreeRows({ shown }: { shown: Shown }): VNode {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const { trace, chosen, folds, leftOut } = shown
  const opened = useMemo(() => new Runs(trace, chosen), [trace, chosen, value('runs')])
  const { rows, runs } = useMemo(
    () => shownRows({ ends: trace.tree.end, isFolded: (row) => folds.has(row), hidden: leftOut, runs: opened }),
    [trace, folds, leftOut, opened],
  )

  useEffect(() => {
    const at = rows.indexOf(chosen) * ROW_PX
    const element = box.current!
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + ROW_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = at + ROW_PX - element.clientHeight
  }, [chosen, rows])

  const act = (key: string): boolean => {
    const done = foldKey(shown, { rows, runs, opened }, key) ?? keyAction(shown, rows, key)
    if (done !== undefined) apply(shown, done)
    return done !== undefined
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (act(event.key)) event.preventDefault()
  }
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS)
  const seen = rows.slice(first, first + ROWS_SEEN + 2 * SPARE_ROWS)
  return (
    <>
      <Head shown={shown} act={act} />
      <div
        class="rows"
        ref={box}
        tabIndex={0}
        role="listbox"
        aria-label={t(
          '{rows} calls: arrows and j k move, left and right fold, * and _ all below, e equal siblings, w a s d zoom and move, 0 shows all',
          { rows: trace.rows },
        )}
        aria-activedescendant={`span-${chosen}`}
        style={{ height: `${Math.min(rows.length, ROWS_SEEN) * ROW_PX}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div class="rows-all" style={{ height: `${rows.length * ROW_PX}px` }} role="presentation">
          {seen.map((number, i) => (
            <Row
              key={number}
              shown={shown}
              number={number}
              top={(first + i) * ROW_PX}
              folded={folds.has(number)}
              run={runs.get(number)}
              runs={opened}
              onFold={(below) => (below ? folds.setBelow(number, !folds.has(number)) : folds.toggle(number))}
            />
          ))}
        </div>
      </div>
    </>
  )
}
