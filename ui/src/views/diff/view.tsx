// What became slower?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { DiffAnswer, DiffRow } from '../../api/diff.ts'
import { go, linkTo, value } from '../../app/address.ts'
import { zoneName } from '../../app/choices.ts'
import { nowNs, type Sides } from '../../app/period.ts'
import { asked, useQuestion } from '../../app/question.ts'
import { Chips, Choice, FunctionLink, RoleChoice } from '../../parts/bits.tsx'
import { ChangeWord, changeText, zText } from '../../parts/change.tsx'
import { Empty, Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { count, durationSigned } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { Pick } from './pick.tsx'
import { chosenSides, kindOf, sideText } from './sides.ts'
import { TreeDiff, mean } from './tree.tsx'

const ROWS = '300'

const total = (row: DiffRow): number => row.total_change_ns ?? (row.b?.total_ns ?? 0) - (row.a?.total_ns ?? 0)

function columnsOf(byHost: boolean): Column<DiffRow>[] {
  const host: Column<DiffRow> = {
    key: 'host',
    head: t('host'),
    text: true,
    cell: (row) => (
      <a class="plain" href={linkTo('hosts', row.host)}>
        {visible(row.host ?? '')}
      </a>
    ),
  }
  return [
    {
      key: 'function',
      head: t('function'),
      text: true,
      cell: (row) => <FunctionLink of={row} />,
    },
    ...(byHost ? [host] : []),
    { key: 'state', head: t('change'), text: true, cell: (row) => <ChangeWord state={row.state} /> },
    { key: 'a', head: t('mean before'), cell: (row) => mean(row.a) },
    { key: 'b', head: t('mean after'), cell: (row) => mean(row.b) },
    {
      key: 'difference',
      head: t('difference'),
      sort: 'mean_change_percent',
      cell: (row) => (row.a && row.b ? changeText(row) : '-'),
    },
    {
      key: 'calls',
      head: t('calls before → after'),
      cell: (row) => `${count(row.a?.calls ?? 0)} → ${count(row.b?.calls ?? 0)}`,
    },
    {
      key: 'total',
      head: t('in all'),
      title: t('how much more (or less) time all calls took together'),
      sort: 'total_change_ns',
      cell: (row) => durationSigned(total(row), (row.b ?? row.a)?.resolution_ns ?? 1),
    },
    {
      key: 'z',
      head: 'z',
      title: t('difference of the means in standard errors: below 3 it may be chance'),
      sort: 'z',
      cell: (row) => zText(row.z),
    },
  ]
}

function Patterns({ answer, sides }: { answer: DiffAnswer; sides: Sides }): VNode {
  const patterns = answer.patterns ?? []
  if (patterns.length === 0) return <></>
  const period = (side: string): Record<string, string | undefined> => {
    const [since, until] = side.split('..')
    return { since: since === '' ? 'all' : since, until: until === '' ? undefined : until }
  }
  return (
    <section>
      <h2>{t('Shapes of traces that were seen on one side only')}</h2>
      <ul class="suspects">
        {patterns.map((one) => (
          <li key={one.pattern}>
            <ChangeWord state={one.state} />{' '}
            <a
              href={linkTo('forest', '', {
                pattern: one.pattern,
                ...period(one.state === 'new' ? sides.b : sides.a),
              })}
            >
              {visible(one.functions[0] ?? one.pattern)}
            </a>
            , {count(one.traces)} {one.traces === 1 ? t('trace') : t('traces')}
            <span class="quiet-text">
              {' '}
              {tx('with {functions}', { functions: one.functions.slice(1, 6).map(visible).join(', ') })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Sentence({ answer, sides }: { answer: DiffAnswer; sides: Sides }): VNode {
  const slower = answer.rows.filter((row) => row.state === 'slower')
  const faster = answer.rows.filter((row) => row.state === 'faster')
  const worst = slower.reduce<DiffRow | undefined>(
    (a, b) => (a === undefined || total(b) > total(a) ? b : a),
    undefined,
  )
  const what = answer.kind === 'period' ? t('functions') : t('calls')
  const zone = answer.kind === 'period' && /\d{16}/.test(sides.b) ? ` ${zoneName()}` : ''
  return (
    <>
      {tx('{more}, {more2} faster. Before: {kind}. After: {kind2}{zone}.', {
        more:
          slower.length === 0 ? (
            <>{tx('No {what} became slower', { what })}</>
          ) : (
            <>
              {tx('{slower} {what} became slower, most of all {function}{more} ({worst})', {
                slower: count(slower.length),
                what,
                function: <b>{visible(worst!.function)}</b>,
                more: worst!.host !== undefined && (
                  <> {tx('on {host}', { host: <a href={linkTo('hosts', worst!.host)}>{visible(worst!.host)}</a> })}</>
                ),
                worst: changeText(worst!),
              })}
            </>
          ),
        more2: faster.length === 0 ? t('none') : count(faster.length),
        kind: sideText(answer.kind, sides.a),
        kind2: sideText(answer.kind, sides.b),
        zone,
      })}
    </>
  )
}

function Rows({ answer, sides }: { answer: DiffAnswer; sides: Sides }): VNode {
  const all = value('show') === 'all'
  const rows = answer.kind === 'period' && !all ? answer.rows.filter((row) => row.state !== 'same') : answer.rows
  if (answer.rows.length === 0) return <Empty what={t('Nothing on either side')} filters={['a', 'b', 'role', 'host']} />
  if (answer.kind !== 'period') return <TreeDiff rows={rows} />
  return (
    <>
      {rows.length === 0 ? (
        <p class="more">
          {tx('All {rows} are the same, as far as chance can be told from change.', {
            rows: count(answer.rows.length),
          })}{' '}
          <button type="button" onClick={() => go({ show: 'all' })}>
            {t('Show them')}
          </button>
        </p>
      ) : (
        <Table
          label={t('Changes')}
          columns={columnsOf(value('by') === 'host')}
          rows={rows}
          rowKey={(row) => `${row.function} ${row.role} ${row.host ?? ''}`}
          defaultSort="total_change_ns"
        />
      )}
      {answer.more === true && (
        <p class="more">
          {tx('The {rows} that changed most.', { rows: count(answer.rows.length) })}{' '}
          <button type="button" onClick={() => go({ limit: '0' })}>
            {t('Show all')}
          </button>
        </p>
      )}
      <Patterns answer={answer} sides={sides} />
    </>
  )
}

function Unchosen(): VNode {
  const kind = kindOf()
  return (
    <div class="empty">
      <h2>
        {kind === 'period'
          ? t('Nothing is before everything')
          : kind === 'pattern'
            ? t('Choose two patterns')
            : t('Choose two traces')}
      </h2>
      <p>
        {kind === 'period'
          ? t('Choose a period above, or write both sides, as 2h..1h and 1h.. would be.')
          : kind === 'trace'
            ? t('In the two fields above, or tick two in the list of traces.')
            : t('In the two fields above.')}
      </p>
      {kind === 'trace' && (
        <p class="buttons">
          <a class="button" href={linkTo('traces')}>
            {t('The list of traces')}
          </a>
        </p>
      )}
    </div>
  )
}

export function DiffView(): VNode {
  const now = useMemo(nowNs, [asked.value, value('since'), value('until')])
  const sides = chosenSides(now)
  const kind = kindOf()
  const ofPeriods = kind === 'period'
  const parameters = {
    a: sides?.a,
    b: sides?.b,
    role: value('role'),
    host: kind === 'trace' ? undefined : value('host'),
    by: ofPeriods ? value('by') : undefined,
    sort: ofPeriods ? value('sort') : undefined,
    limit: ofPeriods ? (value('limit') ?? ROWS) : '0',
  }
  const answer = useQuestion<DiffAnswer>('diff', sides === undefined ? null : parameters)
  return (
    <View
      title={t('Diff')}
      question={t('What became slower?')}
      {...(answer.data === undefined || sides === undefined || answer.data.rows.length === 0
        ? {}
        : { sentence: <Sentence answer={answer.data} sides={sides} /> })}
      asked={sides === undefined ? [] : [{ question: 'diff', parameters }]}
      tools={
        <>
          <Pick />
          <RoleChoice />
          {ofPeriods && (
            <Choice
              name="show"
              label=""
              options={[
                ['', t('what changed')],
                ['all', t('all')],
              ]}
            />
          )}
        </>
      }
    >
      <Chips names={[['host', t('host')]]} />
      {sides === undefined ? (
        <Unchosen />
      ) : (
        <Shown answer={answer} lines={12} names={['host', 'a', 'b']}>
          {(data) => <Rows answer={data} sides={sides} />}
        </Shown>
      )}
    </View>
  )
}
