// Where did the time of one trace go?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { linkTo, linkWith, route, value } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Choice, Field } from '../../parts/bits.tsx'
import { Shown as Answered } from '../../parts/states.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { crossingsOf } from '../../timeline/crossings.ts'
import { Area } from './area.tsx'
import { Lanes } from './lanes.tsx'
import { Minimap } from './minimap.tsx'
import { FoldSums, useFolded, useFolds } from './folds.ts'
import { COLUMNS, askCritical, askTrace, functionOf, processOf } from './model.ts'
import type { Critical, FindAnswer, Trace, TraceHead } from './model.ts'
import { SpanPanel } from './panel.tsx'
import { Perfetto } from './perfetto.tsx'
import { chosenOf, criticalOf, shownOf } from './shown.ts'
import { FOLDED_FROM, TreeRows } from './tree.tsx'

/** Of larger traces the critical path is computed when it is asked for. */
const CRITICAL_AT_ONCE = 200_000
const FIND_LEAST = 2

interface Sum {
  readonly row: number
  readonly critical: number
}

/** The function, on its host, that the root waited for longest. */
export function mostWaited(trace: Trace, critical: Critical): Sum | undefined {
  const sums = new Map<number, Sum>()
  const kinds = trace.head.functions.length
  for (let row = 0; row < trace.rows; row++) {
    if (critical.critical[row] === 0) continue
    const kind = trace.calls.process[row]! * kinds + trace.function[row]!
    const before = sums.get(kind)
    sums.set(kind, { row: before?.row ?? row, critical: (before?.critical ?? 0) + critical.critical[row]! })
  }
  return [...sums.values()].reduce<Sum | undefined>(
    (a, b) => (a === undefined || b.critical > a.critical ? b : a),
    undefined,
  )
}

function sentence(trace: Trace | undefined, most: Sum | undefined): VNode | undefined {
  if (trace === undefined || trace.rows === 0) return undefined
  const { head } = trace
  const hosts = new Set(head.processes.map((process) => process.host)).size
  const waited = most && { name: functionOf(trace, most.row), host: processOf(trace, most.row).host ?? '' }
  return (
    <>
      {tx('{trace} took {duration} at {beginTime} {zoneName}, in {spansTotal} calls on {hosts} {more}.{more2}', {
        trace: <b>{visible(functionOf(trace, 0))}</b>,
        duration: <b>{duration(head.duration_ns)}</b>,
        beginTime: dayTime(head.begin_time_ns, zone.value, 3),
        zoneName: zoneName(),
        spansTotal: count(head.spans_total),
        hosts: count(hosts),
        more: hosts === 1 ? t('host') : t('hosts'),
        more2: most !== undefined && waited !== undefined && (
          <>
            {' '}
            {tx('{critical} of it was waited for {name}{more}.', {
              critical: share(most.critical, head.duration_ns),
              name: <a href={linkTo('functions', '', { function: waited.name, by: 'host' })}>{visible(waited.name)}</a>,
              more: waited.host !== '' && (
                <> {tx('on {host}', { host: <a href={linkTo('hosts', waited.host)}>{visible(waited.host)}</a> })}</>
              ),
            })}
          </>
        ),
      })}
    </>
  )
}

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

function Marks({ head }: { head: TraceHead }): VNode {
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

function Tasks({ head }: { head: TraceHead }): VNode {
  if (head.tasks === undefined) return <></>
  return (
    <p>
      {tx('It belongs to {tasks}', {
        tasks: head.tasks.map((task) => (
          <span key={`${task.app} ${task.task}`}>
            {tx('task {task} of {app} ({link})', {
              task: task.task,
              app: <a href={linkTo('app', task.app)}>{visible(task.app)}</a>,
              link: task.link,
            })}{' '}
          </span>
        )),
      })}
    </p>
  )
}

/** With find and critical path, which are questions of their own. */
function useTrace() {
  const id = route.value.id
  const part = value('part')
  const find = value('find') ?? ''
  const trace = useQuestion<Trace>('trace/columns', { id, part, columns: COLUMNS }, askTrace)
  const rows = trace.data?.rows ?? Infinity
  const wanted = rows <= CRITICAL_AT_ONCE || (rows < Infinity && value('path') === 'critical')
  const critical = useQuestion<Critical>(
    'trace/columns',
    wanted ? { id, part, columns: 'critical' } : null,
    askCritical,
  )
  const found = useQuestion<FindAnswer>('trace/find', find.length < FIND_LEAST ? null : { id, part, text: find })
  return { trace, critical, found, find, wanted }
}

function Said({ asked }: { asked: ReturnType<typeof useTrace> }): VNode {
  const { critical, found, find, wanted, trace } = asked
  const short = wanted && critical.data !== undefined && critical.data.rows !== trace.data?.rows
  return (
    <>
      {found.error !== undefined && <p class="notice bad">{found.error}</p>}
      {find.length >= FIND_LEAST && found.data && (
        <p role="status">
          {tx('{found} calls have “{find}”{more}. n and N step through them.', {
            found: count(found.data.found),
            find: visible(find),
            more:
              found.data.more === true && t('; the first {rows} are marked', { rows: count(found.data.rows.length) }),
          })}
        </p>
      )}
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

function Calls({ trace, asked }: { trace: Trace; asked: ReturnType<typeof useTrace> }): VNode {
  const find = asked.find.length < FIND_LEAST ? undefined : asked.found.data
  const lookup = useMemo(() => find && new Set(find.rows), [find])
  const large = trace.rows > FOLDED_FROM
  const as = value('as') ?? (large ? 'lanes' : 'tree')
  const chosen = useMemo(() => chosenOf(trace), [trace, value('sel'), value('call')])
  const critical = criticalOf(trace, asked.wanted ? asked.critical.data : undefined)
  const folds = useFolds(trace, chosen, large && as === 'tree')
  const sums = useMemo(() => new FoldSums(trace, critical), [trace, critical, folds])
  const folded = useFolded(trace, folds, as === 'lanes')
  const { hidden } = folded
  const crossings = useMemo(() => crossingsOf(trace.calls, trace.tree, chosen), [trace, chosen])
  const shown = { ...shownOf(folded.trace, chosen, find), found: lookup, critical, folds, sums, hidden, crossings }
  return (
    <>
      {folded.error !== undefined && <p class="notice bad">{folded.error}</p>}
      <div class="beside trace">
        <div class="card timeline">
          <Minimap shown={shown} />
          {as === 'lanes' ? <Lanes shown={shown} /> : <TreeRows shown={shown} />}
        </div>
        <SpanPanel shown={shown} />
      </div>
      <Area shown={shown} />
    </>
  )
}

export function TraceView(): VNode {
  const asked = useTrace()
  const trace = asked.trace.data
  const critical = asked.critical.data
  const most = useMemo(
    () => (trace && critical?.rows === trace.rows ? mostWaited(trace, critical) : undefined),
    [trace, critical],
  )
  const shapes = [
    ['tree', t('tree')],
    ['lanes', t('lanes')],
  ] as const
  const large = (trace?.rows ?? 0) > FOLDED_FROM
  return (
    <View
      title={t('Trace {id}', { id: route.value.id })}
      question={t('Where did the time go?')}
      sentence={sentence(trace, most)}
      asked={[
        { question: 'trace', parameters: { id: route.value.id, part: value('part') } },
        ...(asked.find.length < FIND_LEAST
          ? []
          : [{ question: 'trace/find', parameters: { id: route.value.id, part: value('part'), text: asked.find } }]),
      ]}
      tools={
        <>
          <Choice name="as" label={t('as')} options={large ? [shapes[1], shapes[0]] : shapes} />
          <Choice
            name="path"
            label={t('show')}
            options={[
              ['all', t('all calls')],
              ['critical', t('critical path')],
            ]}
          />
          <Field name="find" label={t('find')} placeholder={t('function, host, value')} width={20} />
          {trace && <Perfetto trace={trace} />}
        </>
      }
    >
      <Answered answer={asked.trace} lines={18}>
        {(data) => (
          <>
            <Marks head={data.head} />
            <Tasks head={data.head} />
            <Said asked={asked} />
            <Calls trace={data} asked={asked} />
          </>
        )}
      </Answered>
    </View>
  )
}
