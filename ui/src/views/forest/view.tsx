// What do calls look like together?

import type { VNode } from 'preact'
import type { ForestAnswer, Pattern } from '../../api/answers.ts'
import { go, value, values } from '../../app/address.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { Chips, Choice, RoleChoice } from '../../parts/bits.tsx'
import { NameField } from '../../parts/name-field.tsx'
import { Empty, Shown } from '../../parts/states.tsx'
import { View } from '../../parts/view.tsx'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { PatternCard } from './pattern.tsx'

const FILTERS = ['role', 'host', 'function', 'exclude', 'pattern']

function sentence(answer: ForestAnswer | undefined): VNode | undefined {
  const heaviest = answer?.patterns[0]
  if (answer === undefined || heaviest === undefined) return undefined
  const all = answer.patterns.reduce((sum, pattern) => sum + pattern.total_ns, answer.rest?.total_ns ?? 0)
  return (
    <>
      {count(answer.traces)} traces have {count(answer.patterns_total ?? answer.patterns.length)} shapes. The heaviest,{' '}
      <b>{visible(heaviest.nodes[0]?.function ?? '')}</b>, is {share(heaviest.traces, answer.traces)} of them and{' '}
      {share(heaviest.total_ns, all)} of their time.
    </>
  )
}

function Excluded(): VNode {
  const excluded = values('exclude')
  if (excluded.length === 0) return <></>
  return (
    <p class="chips">
      {excluded.map((name) => (
        <span key={name} class="chip">
          without <b>{visible(name)}</b>
          <button
            type="button"
            aria-label={`${visible(name)} again`}
            onClick={() => go({ exclude: excluded.filter((other) => other !== name) })}
          >
            ×
          </button>
        </span>
      ))}
    </p>
  )
}

function Rest({ answer }: { answer: ForestAnswer }): VNode {
  if (answer.rest === undefined) return <></>
  return (
    <p class="more">
      {count(answer.rest.patterns)} more patterns have {count(answer.rest.traces)} traces and{' '}
      {duration(answer.rest.total_ns)}.{' '}
      <button type="button" onClick={() => go({ limit: String(answer.patterns.length * 4) })}>
        Show more
      </button>
    </p>
  )
}

function Patterns({ answer }: { answer: ForestAnswer }): VNode {
  if (answer.patterns.length === 0)
    return <Empty what="No traces" filters={FILTERS.filter((name) => value(name) !== undefined)} />
  const all = answer.patterns.reduce((sum, pattern) => sum + pattern.total_ns, answer.rest?.total_ns ?? 0)
  const open = value('open') ?? answer.patterns[0]!.pattern
  return (
    <>
      {answer.patterns.map((pattern: Pattern, i) => (
        <PatternCard
          key={pattern.pattern}
          pattern={pattern}
          number={i + 1}
          whole={all}
          open={open === pattern.pattern}
        />
      ))}
      <Rest answer={answer} />
    </>
  )
}

export function ForestView(): VNode {
  const parameters = {
    ...askedPeriod(),
    role: value('role'),
    host: value('host'),
    function: value('function'),
    exclude: values('exclude'),
    pattern: value('pattern'),
    sort: value('sort'),
    limit: value('limit') ?? '20',
  }
  const answer = useQuestion<ForestAnswer>('forest', parameters)
  return (
    <View
      title="Forest"
      question="What do calls look like together?"
      sentence={sentence(answer.data)}
      asked={[{ question: 'forest', parameters }]}
      tools={
        <>
          <Choice
            name="width"
            label="width"
            options={[
              ['critical', 'critical time'],
              ['total', 'total'],
              ['self', 'self'],
              ['calls', 'calls'],
            ]}
          />
          <Choice
            name="sort"
            label="heaviest by"
            options={[
              ['', 'time'],
              ['traces', 'traces'],
              ['critical_ns', 'critical'],
            ]}
          />
          <RoleChoice />
          <NameField name="function" kind="function" label="calls" />
        </>
      }
    >
      <Chips
        names={[
          ['host', 'host'],
          ['function', 'calls'],
          ['pattern', 'pattern'],
        ]}
      />
      <Excluded />
      <Shown answer={answer} lines={12}>
        {(data) => <Patterns answer={data} />}
      </Shown>
    </View>
  )
}
