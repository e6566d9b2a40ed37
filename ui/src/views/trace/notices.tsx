// What is to be said of a trace before its calls: what of it is missing, whose it is, what was found in it.

import type { VNode } from 'preact'
import type { TasksAnswer } from '../../api/spark.ts'
import { linkTo, linkToTask, linkWith } from '../../app/address.ts'
import { useQuestion, type Answer } from '../../app/question.ts'
import { t, tx } from '../../text/t.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import type { Critical, FindAnswer, Trace, TraceHead } from './model.ts'
import { criticalOf, foundOf, onlyAsked, wantedOf, type Marks as Marked } from './shown.ts'
import type { Usual } from './usual.ts'

/** Fewer characters find too much. */
export const FIND_LEAST = 2

function Parts({ head }: { head: TraceHead }): VNode {
  const first = head.first_part ?? 1
  const next = first + (head.parts_shown ?? 1)
  if ((head.parts ?? 1) === 1 || (first === 1 && next > head.parts!)) return <></>
  return (
    <p class="notice warn">
      {tx('This trace is kept in {parts} parts; these are {first} to {next}. {more}', {
        parts: head.parts,
        first,
        next: next - 1,
        more: next <= head.parts! && (
          <a href={linkWith({ part: String(next), sel: undefined, w: undefined })}>{t('The next ones')}</a>
        ),
      })}
    </p>
  )
}

export function Marks({ head }: { head: TraceHead }): VNode {
  const dropped = head.dropped ?? []
  return (
    <>
      {head.incomplete && (
        <p class="notice warn">
          {tx('Spans of this trace are missing{more}.', {
            more:
              head.missing > 0 &&
              t(': {missing} callers never came, of {orphans} calls', {
                missing: count(head.missing),
                orphans: count(head.orphans),
              }),
          })}
        </p>
      )}
      <Parts head={head} />
      {dropped.length > 0 && (
        <p class="notice warn">
          {tx('Not kept of this trace, by choice: {dropped}.', { dropped: dropped.join(', ') })}
        </p>
      )}
    </>
  )
}

type TaskOf = NonNullable<TraceHead['tasks']>[number]

/** A task's place is in its stage, which plumbd knows. */
function TaskLink({ of }: { of: TaskOf }): VNode {
  const answer = useQuestion<TasksAnswer>('tasks', { app: of.app, task: String(of.task) })
  const row = answer.data?.tasks[0]
  const name = t('task {task}', { task: of.task })
  return row === undefined ? <>{name}</> : <a href={linkToTask(of.app, row)}>{name}</a>
}

/** So many lead to their tasks. Most traces are of one. */
const LINKED = 3

export function Tasks({ head }: { head: TraceHead }): VNode {
  if (head.tasks === undefined) return <></>
  return (
    <p>
      {tx('It belongs to {tasks}', {
        tasks: head.tasks.map((task, i) => (
          <span key={`${task.app} ${task.task}`}>
            {tx('{task} of {app} ({link})', {
              task: i < LINKED ? <TaskLink of={task} /> : t('task {task}', { task: task.task }),
              app: <a href={linkTo('app', task.app)}>{visible(task.app)}</a>,
              link: task.link,
            })}{' '}
          </span>
        )),
      })}
    </p>
  )
}

export interface SaidOf {
  readonly trace: Trace
  readonly critical: Answer<Critical>
  readonly found: Answer<FindAnswer>
  readonly find: string
  /** The critical path is asked for. */
  readonly wanted: boolean
  readonly usual: Usual | undefined
  /** Why it is not known which calls are slow. */
  readonly usualError: string | undefined
}

function SlowCalls({ trace, usual }: { trace: Trace; usual: Usual }): VNode {
  const slow = usual.rows.length
  if (slow === 0) {
    if (onlyAsked() !== 'slow') return <></>
    return <p role="status">{t('No call took longer than 95 of 100 of its function did in that hour.')}</p>
  }
  return (
    <p role="status">
      {tx('{slow} of {calls} calls took longer than 95 of 100 of their function did in that hour. {more}', {
        slow: count(slow),
        calls: count(trace.rows),
        more:
          onlyAsked() === 'slow' ? (
            t('n and N step through them.')
          ) : (
            <a href={linkWith({ path: 'slow' })}>{t('Show them')}</a>
          ),
      })}
    </p>
  )
}

/** How many of those found are what else is asked for. */
function alsoMarked({ rows }: FindAnswer, marks: Marked): string {
  const isMarked = wantedOf(marks)
  if (isMarked === undefined) return ''
  const both = count(rows.filter(isMarked).length)
  return marks.only === 'slow'
    ? t('; {both} of them are among the slowest 5 %', { both })
    : t('; {both} of them are on the critical path', { both })
}

export function Said({ critical, found, find, wanted, trace, usual, usualError }: SaidOf): VNode {
  const { head } = trace
  const of = critical.data?.of
  const short =
    wanted &&
    of?.trace === head.trace &&
    of.first_part === head.first_part &&
    (of.parts_shown ?? 1) < (head.parts_shown ?? 1)
  const those = foundOf(trace, found.data)
  return (
    <>
      {found.error !== undefined && <p class="notice bad">{found.error}</p>}
      {find.length >= FIND_LEAST && those && (
        <p role="status">
          {tx('{found} calls have “{find}”{more}. n and N step through them.', {
            found: count(those.found),
            find: visible(find),
            more: (
              <>
                {those.more === true && t('; the first {rows} are marked', { rows: count(those.rows.length) })}
                {alsoMarked(those, {
                  only: onlyAsked(),
                  critical: criticalOf(trace, critical.data),
                  found: undefined,
                  usual,
                })}
              </>
            ),
          })}
        </p>
      )}
      {onlyAsked() === 'slow' && usualError !== undefined && <p class="notice bad">{usualError}</p>}
      {usual && <SlowCalls trace={trace} usual={usual} />}
      {wanted && critical.error !== undefined && <p class="notice bad">{critical.error}</p>}
      {short && (
        <p class="notice warn">
          {tx('There is no room to compute the critical path of so many calls: raise {link}.', {
            link: <code>http.question-memory</code>,
          })}
        </p>
      )}
    </>
  )
}
