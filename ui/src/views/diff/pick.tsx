// What is compared: two periods, patterns or traces.

import type { VNode } from 'preact'
import type { ForestAnswer, TracesAnswer } from '../../api/answers.ts'
import { go, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion } from '../../app/question.ts'
import { ByHostChoice, Field, Select } from '../../parts/bits.tsx'
import { t } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { EARLIER, kindOf, type Kind } from './sides.ts'

const LISTED = '50'

type Option = readonly [string, string]

function Pickers({ options, none }: { options: readonly Option[]; none: string }): VNode {
  const known = (name: string): Option[] => {
    const id = value(name)
    return id === undefined || options.some(([key]) => key === id) ? [] : [[id, id]]
  }
  return (
    <>
      {(['a', 'b'] as const).map((name) => (
        <Select
          key={name}
          label={name === 'a' ? t('before') : t('after')}
          value={value(name) ?? ''}
          options={[['', none], ...known(name), ...options]}
          choose={(id) => go({ [name]: id, kind: kindOf(), sel: undefined })}
        />
      ))}
    </>
  )
}

function Patterns(): VNode {
  const answer = useQuestion<ForestAnswer>('forest', { ...askedPeriod(), limit: LISTED })
  const options = (answer.data?.patterns ?? []).map((pattern): Option => {
    const root = visible(pattern.nodes[0]?.function ?? '')
    return [
      pattern.pattern,
      t('{root}, {traces} traces, {id}', { root, traces: count(pattern.traces), id: pattern.pattern.slice(0, 8) }),
    ]
  })
  return <Pickers options={options} none={t('a pattern…')} />
}

function Traces(): VNode {
  const answer = useQuestion<TracesAnswer>('traces', { ...askedPeriod(), sort: 'duration_ns', limit: LISTED })
  const options = (answer.data?.traces ?? []).map((row): Option => {
    const begin = clockTime(row.begin_time_ns, zone.value)
    return [row.trace, `${duration(row.duration_ns)}, ${visible(row.root)}, ${begin}`]
  })
  return <Pickers options={options} none={t('a trace…')} />
}

function Periods(): VNode {
  return (
    <>
      <Select
        label={t('against')}
        value={value('earlier') ?? ''}
        options={EARLIER}
        choose={(earlier) => go({ earlier, a: undefined, b: undefined })}
      />
      <Field name="a" label={t('or before')} placeholder="2h..1h" width={11} />
      <Field name="b" label={t('after')} placeholder="1h.." width={11} />
      <ByHostChoice />
    </>
  )
}

const KINDS: readonly (readonly [Kind, string])[] = [
  ['period', t('periods')],
  ['pattern', t('patterns')],
  ['trace', t('traces')],
]

export function Pick(): VNode {
  const kind = kindOf()
  return (
    <>
      <div class="choice" role="group" aria-label={t('compare')}>
        <span class="label">{t('compare')}</span>
        {KINDS.map(([key, text]) => (
          <button
            key={key}
            type="button"
            aria-pressed={key === kind}
            onClick={() =>
              go({
                kind: key === 'period' ? undefined : key,
                a: undefined,
                b: undefined,
                sort: undefined,
                by: undefined,
              })
            }
          >
            {text}
          </button>
        ))}
      </div>
      {kind === 'period' ? <Periods /> : kind === 'pattern' ? <Patterns /> : <Traces />}
      {value('a') !== undefined && value('b') !== undefined && (
        <button type="button" onClick={() => go({ a: value('b'), b: value('a') })}>
          {t('swap')}
        </button>
      )}
    </>
  )
}
