// Where did the time of one trace go?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Column } from '../../api/columns.ts'
import { linkTo, route, value } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Choice, Field } from '../../parts/bits.tsx'
import { Exported } from '../../parts/export.tsx'
import { Shown as Answered } from '../../parts/states.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { crossingsOf } from '../../timeline/crossings.ts'
import { Area } from './area.tsx'
import { ClockNotice, ClockTable, useAligned, useClocks } from './clocks.tsx'
import { Lanes } from './lanes.tsx'
import { Minimap } from './minimap.tsx'
import { FoldSums, useFolded, useFolds, useLeftOut } from './folds.ts'
import {
  COLUMNS,
  askCritical,
  askNotes,
  askTrace,
  functionOf,
  hasAnyNotes,
  notesOf,
  processOf,
  spanId,
} from './model.ts'
import type { Critical, FindAnswer, NoteTimes, SpanAnswer, Trace } from './model.ts'
import { FIND_LEAST, Marks, Said, Tasks } from './notices.tsx'
import { SpanPanel } from './panel.tsx'
import { Perfetto } from './perfetto.tsx'
import { chosenOf, criticalOf, foundOf, noteTimesOf, onlyAsked, shownOf } from './shown.ts'
import { FOLDED_FROM, TreeRows } from './tree.tsx'
import { hourAsked, useUsual } from './usual.ts'

/** Of larger traces the critical path is computed when it is asked for. */
const CRITICAL_AT_ONCE = 200_000

interface Sum {
  readonly row: number
  readonly critical: number
}

/** The function, on its host, that the root waited for longest. */
export function mostWaited(trace: Trace, critical: Column): Sum | undefined {
  const sums = new Map<number, Sum>()
  const kinds = trace.head.functions.length
  for (let row = 0; row < trace.rows; row++) {
    if (critical[row] === 0) continue
    const kind = trace.calls.process[row]! * kinds + trace.function[row]!
    const before = sums.get(kind)
    sums.set(kind, { row: before?.row ?? row, critical: (before?.critical ?? 0) + critical[row]! })
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
  const { usual, error: usualError } = useUsual(trace.data)
  const noted = useMemo(() => trace.data !== undefined && hasAnyNotes(trace.data), [trace.data])
  const noteTimes = useQuestion<NoteTimes>('trace/notes', noted ? { id, part } : null, askNotes)
  return { trace, critical, found, find, wanted, usual, usualError, noteTimes: noted ? noteTimes.data : undefined }
}

function Calls({ recorded, asked }: { recorded: Trace; asked: ReturnType<typeof useTrace> }): VNode {
  const clocks = useClocks(recorded)
  const aligned = useAligned(recorded, clocks)
  const { trace } = aligned
  const find = asked.find.length < FIND_LEAST ? undefined : foundOf(trace, asked.found.data)
  const lookup = useMemo(() => find && new Set(find.rows), [find])
  const large = trace.rows > FOLDED_FROM
  const as = value('as') ?? (large ? 'lanes' : 'tree')
  const chosen = useMemo(() => chosenOf(trace), [trace, value('sel'), value('call')])
  const critical = criticalOf(trace, asked.wanted ? asked.critical.data : undefined)
  const folds = useFolds(trace, chosen, large && as === 'tree')
  const sums = useMemo(() => new FoldSums(trace, critical), [trace, critical])
  const { usual } = asked
  const marks = { only: onlyAsked(), critical, found: lookup, usual }
  const leftOut = useLeftOut(trace, marks, chosen)
  const folded = useFolded(trace, folds, as === 'lanes', leftOut)
  const crossings = useMemo(() => crossingsOf(trace.calls, trace.tree, chosen), [trace, chosen])
  const span = useQuestion<SpanAnswer>('span', { id: spanId(trace, chosen) })
  const notes = useMemo(() => notesOf(trace, chosen, span.data?.row), [trace, chosen, span.data])
  const shown = {
    ...shownOf(folded.trace, chosen, find),
    ...marks,
    folds,
    sums,
    hidden: folded.hidden,
    leftOut,
    crossings,
    notes,
    noteTimes: noteTimesOf(trace, asked.noteTimes),
  }
  return (
    <>
      {[aligned.error, folded.error].map((error) => error !== undefined && <p class="notice bad">{error}</p>)}
      <ClockNotice clocks={clocks} />
      <div class="beside trace">
        <div class="card timeline">
          <Exported name="calls">
            <Minimap shown={shown} />
            {as === 'lanes' ? <Lanes shown={shown} /> : <TreeRows shown={shown} />}
          </Exported>
        </div>
        <SpanPanel shown={shown} answer={span} />
      </div>
      <Area shown={shown} />
      <ClockTable clocks={clocks} />
    </>
  )
}

/** What becomes of calls that are not asked for. */
function OthersChoice(): VNode {
  return (
    <Choice
      name="others"
      label={t('others')}
      options={[
        ['pale', t('pale')],
        ['hidden', t('left out')],
      ]}
    />
  )
}

/** How the calls of all such traces were spread, in its hour. */
function PatternLink({ trace }: { trace: Trace }): VNode {
  const { pattern } = trace.head
  if (pattern === undefined) return <></>
  const { since, until } = hourAsked(trace)
  return (
    <a class="button" href={linkTo('forest', '', { pattern, since, until })}>
      {t('All such traces')}
    </a>
  )
}

export function TraceView(): VNode {
  const asked = useTrace()
  const trace = asked.trace.data
  const critical = trace && criticalOf(trace, asked.critical.data)
  const most = useMemo(() => (trace && critical ? mostWaited(trace, critical) : undefined), [trace, critical])
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
        ...(trace && onlyAsked() === 'slow' ? [{ question: 'functions', parameters: hourAsked(trace) }] : []),
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
              ['slow', t('slowest 5 %')],
            ]}
          />
          {(value('path') ?? asked.find) !== '' && <OthersChoice />}
          <Field name="find" label={t('find')} placeholder={t('function, host, value')} width={20} />
          {trace && <PatternLink trace={trace} />}
          {trace && <Perfetto trace={trace} />}
        </>
      }
    >
      <Answered answer={asked.trace} lines={18}>
        {(data) => (
          <>
            <Marks head={data.head} />
            <Tasks head={data.head} />
            <Said {...asked} trace={data} />
            <Calls recorded={data} asked={asked} />
          </>
        )}
      </Answered>
    </View>
  )
}
