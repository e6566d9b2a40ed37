// Where did the time of one trace go?

import type { VNode } from 'preact'
import type { Span, TraceAnswer } from '../../api/answers.ts'
import { linkTo, route, value } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Choice, Field } from '../../parts/bits.tsx'
import { Shown } from '../../parts/states.tsx'
import { View } from '../../parts/view.tsx'
import { dayTime } from '../../text/times.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Timeline } from './timeline.tsx'

interface Sum {
  readonly function: string
  readonly host: string
  readonly critical: number
}

/** The function, on its host, that the root waited for longest. */
export function mostWaited(spans: readonly Span[]): Sum | undefined {
  const sums = new Map<string, Sum>()
  for (const span of spans) {
    const host = span.host ?? ''
    const key = `${span.function}\n${host}`
    const before = sums.get(key)?.critical ?? 0
    sums.set(key, { function: span.function, host, critical: before + span.critical_ns })
  }
  return [...sums.values()].reduce<Sum | undefined>(
    (a, b) => (a === undefined || b.critical > a.critical ? b : a),
    undefined,
  )
}

function sentence(answer: TraceAnswer | undefined): VNode | undefined {
  const root = answer?.spans[0]
  if (answer === undefined || root === undefined) return undefined
  const most = mostWaited(answer.spans)
  const hosts = new Set(answer.spans.map((span) => span.host)).size
  return (
    <>
      <b>{visible(root.function)}</b> took <b>{duration(answer.duration_ns)}</b> at{' '}
      {dayTime(answer.begin_time_ns, zone.value, 3)} {zoneName()}, in {count(answer.spans_total)} calls on{' '}
      {count(hosts)} {hosts === 1 ? 'host' : 'hosts'}.
      {most !== undefined && most.critical > 0 && (
        <>
          {' '}
          {share(most.critical, answer.duration_ns)} of it was waited for{' '}
          <a href={linkTo('functions', '', { function: most.function, by: 'host' })}>{visible(most.function)}</a>
          {most.host !== '' && <> on {visible(most.host)}</>}.
        </>
      )}
    </>
  )
}

function Marks({ answer }: { answer: TraceAnswer }): VNode {
  const dropped = answer.dropped ?? []
  return (
    <>
      {answer.incomplete && (
        <p class="notice warn">
          Spans of this trace are missing{answer.orphans > 0 && `: ${count(answer.orphans)} parents never came`}.
        </p>
      )}
      {answer.more === true && (
        <p class="notice warn">
          The first {count(answer.spans.length)} of {count(answer.spans_total)} spans are shown.{' '}
          <code>plumb trace --limit 0</code> has all.
        </p>
      )}
      {(answer.parts ?? 1) > 1 && (
        <p class="notice warn">
          This trace is kept in {answer.parts} parts; these are {answer.parts_shown ?? 1} of them, from part{' '}
          {answer.first_part ?? 1} on.
        </p>
      )}
      {dropped.length > 0 && <p class="notice warn">Not kept of this trace, by choice: {dropped.join(', ')}.</p>}
    </>
  )
}

function Tasks({ answer }: { answer: TraceAnswer }): VNode {
  if (answer.tasks === undefined) return <></>
  return (
    <p>
      It belongs to{' '}
      {answer.tasks.map((task) => (
        <span key={`${task.app} ${task.task}`}>
          task {task.task} of {visible(task.app)} ({task.link}){' '}
        </span>
      ))}
    </p>
  )
}

export function TraceView(): VNode {
  const parameters = { id: route.value.id, part: value('part') }
  const answer = useQuestion<TraceAnswer>('trace', parameters)
  return (
    <View
      title={`Trace ${route.value.id}`}
      question="Where did the time go?"
      sentence={sentence(answer.data)}
      asked={[{ question: 'trace', parameters }]}
      tools={
        <>
          <Choice
            name="path"
            label="show"
            options={[
              ['all', 'all calls'],
              ['critical', 'critical path'],
            ]}
          />
          <Field name="find" label="find" placeholder="function, host, value" width={20} />
        </>
      }
    >
      <Shown answer={answer} lines={18}>
        {(data) => (
          <>
            <Marks answer={data} />
            <Tasks answer={data} />
            <Timeline answer={data} />
          </>
        )}
      </Shown>
    </View>
  )
}
