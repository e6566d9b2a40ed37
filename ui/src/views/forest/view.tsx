// What do calls look like together?

import type { VNode } from 'preact'
import type { ForestAnswer, Pattern } from '../../api/answers.ts'
import { go, value, values } from '../../app/address.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { Chips, Choice, RoleChoice } from '../../parts/bits.tsx'
import { NameField } from '../../parts/name-field.tsx'
import { Empty, Shown, Widened } from '../../parts/states.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Callers } from './callers.tsx'
import { PatternCard } from './pattern.tsx'

const FILTERS = ['role', 'host', 'function', 'exclude', 'pattern']

function sentence(answer: ForestAnswer | undefined): VNode | undefined {
  const heaviest = answer?.patterns[0]
  if (answer === undefined || heaviest === undefined) return undefined
  const all = answer.patterns.reduce((sum, pattern) => sum + pattern.total_ns, answer.rest?.total_ns ?? 0)
  return (
    <>
      {tx(
        '{traces} traces have {patternsTotal} shapes. The heaviest, {function}, is {traces2} of them and {total} of their time.',
        {
          traces: count(answer.traces),
          patternsTotal: count(answer.patterns_total ?? answer.patterns.length),
          function: <b>{visible(heaviest.nodes[0]?.function ?? '')}</b>,
          traces2: share(heaviest.traces, answer.traces),
          total: share(heaviest.total_ns, all),
        },
      )}
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
          {tx('without {name}', { name: <b>{visible(name)}</b> })}
          <button
            type="button"
            aria-label={t('{name} again', { name: visible(name) })}
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
      {tx('{patterns} more patterns have {traces} traces and {total}.', {
        patterns: count(answer.rest.patterns),
        traces: count(answer.rest.traces),
        total: duration(answer.rest.total_ns),
      })}{' '}
      <button type="button" onClick={() => go({ limit: String(answer.patterns.length * 4) })}>
        {t('Show more')}
      </button>
    </p>
  )
}

function Patterns({ answer }: { answer: ForestAnswer }): VNode {
  if (answer.patterns.length === 0)
    return <Empty what={t('No traces')} filters={FILTERS.filter((name) => value(name) !== undefined)} />
  const all = answer.patterns.reduce((sum, pattern) => sum + pattern.total_ns, answer.rest?.total_ns ?? 0)
  const open = value('open') ?? answer.patterns[0]!.pattern
  const name = value('function')
  return (
    <>
      <Widened answer={answer} />
      {name !== undefined && <Callers answer={answer} name={name} />}
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
      title={t('Forest')}
      question={t('What do calls look like together?')}
      sentence={sentence(answer.data)}
      asked={[{ question: 'forest', parameters }]}
      tools={
        <>
          <Choice
            name="width"
            label={t('width')}
            options={[
              ['critical', t('critical time')],
              ['total', t('total')],
              ['self', t('self')],
              ['calls', t('calls')],
              ['bytes', t('bytes')],
            ]}
          />
          <Choice
            name="sort"
            label={t('heaviest by')}
            options={[
              ['', t('time')],
              ['traces', t('traces')],
              ['critical_ns', t('critical')],
            ]}
          />
          <RoleChoice />
          <NameField name="function" kind="function" label={t('calls')} />
        </>
      }
    >
      <Chips
        names={[
          ['host', t('host')],
          ['function', t('calls')],
          ['pattern', t('pattern')],
        ]}
      />
      <Excluded />
      <Shown answer={answer} lines={12} names={['host', 'pattern']}>
        {(data) => <Patterns answer={data} />}
      </Shown>
    </View>
  )
}
