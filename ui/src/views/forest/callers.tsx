// Who calls the function that is looked for.

import type { VNode } from 'preact'
import type { ForestAnswer } from '../../api/answers.ts'
import { FunctionLink } from '../../parts/bits.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { callersOf, type Caller } from './caller-sums.ts'

const COLUMNS: readonly Column<Caller>[] = [
  {
    key: 'caller',
    head: t('caller'),
    text: true,
    cell: ({ function: name, role }) =>
      name === undefined || role === undefined ? (
        t('nobody: it is a root')
      ) : (
        <FunctionLink of={{ function: name, role }} />
      ),
  },
  { key: 'calls', head: t('calls'), cell: (one) => count(one.calls) },
  { key: 'total', head: t('total'), cell: (one) => duration(one.total_ns) },
  { key: 'self', head: t('self'), cell: (one) => duration(one.self_ns) },
  { key: 'critical', head: t('critical'), cell: (one) => duration(one.critical_ns) },
]

export function Callers({ answer, name }: { answer: ForestAnswer; name: string }): VNode {
  const callers = callersOf(answer.patterns, name)
  if (callers.length === 0) return <></>
  return (
    <section>
      <h2>{tx('Who calls {name}?', { name: <bdi>{visible(name)}</bdi> })}</h2>
      <p class="quiet-text">
        {answer.rest === undefined
          ? t('Sums of its calls by caller, in all patterns that have it.')
          : t('Sums of its calls by caller, in the {patterns} patterns listed here.', {
              patterns: count(answer.patterns.length),
            })}
      </p>
      <Table
        label={t('Callers')}
        columns={COLUMNS}
        rows={callers}
        rowKey={(one) => `${one.role ?? ''} ${one.function ?? ''}`}
      />
    </section>
  )
}
