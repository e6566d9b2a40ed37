// What is slow now?

import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Parameters } from '../../api/ask.ts'
import type { DiffAnswer } from '../../api/diff.ts'
import type { SlowAnswer } from '../../api/hosts.ts'
import type { MarksAnswer } from '../../api/marks.ts'
import { askSeries, type MapAnswer } from '../../api/series.ts'
import type { AppRow, AppsAnswer } from '../../api/spark.ts'
import type { FunctionRow, FunctionsAnswer } from '../../api/answers.ts'
import { go, linkWith, refine, value } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { askedPeriod, nowNs, periodSides } from '../../app/period.ts'
import { askedByReader, useQuestion, useQuestionOnce } from '../../app/question.ts'
import { Choice, ROLE_OPTIONS, Select } from '../../parts/bits.tsx'
import { Exported } from '../../parts/export.tsx'
import { bandsOf } from '../../parts/marks.tsx'
import { NameField } from '../../parts/name-field.tsx'
import { Empty, Shown } from '../../parts/states.tsx'
import { View, type Asked } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { clockTime } from '../../text/times.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import type { Scheme } from './colours.ts'
import { FIELDS } from './fields.ts'
import { cellName, timeOfStep } from './layout.ts'
import { HostMap, chosenCell } from './map.tsx'
import { mapData } from './map-data.ts'
import { Meanwhile } from './meanwhile.tsx'
import { CellPanel } from './panel.tsx'
import { NoneSlow, SlowNow, SlowSentence, suspected } from './now.tsx'
import { Running, runningApps, runningAsked } from './running.tsx'
import { Slower } from './slower.tsx'
import { slowHosts, type Slow } from './slow.ts'

const MAP_NAME = t('Hosts over time')
const HOSTS = '60'
const FUNCTIONS = '12'
/** An application that runs may be older than many that have ended. */
const APPS = '200'
const SPELLS = '5'
/** All functions: the slower ones may be anywhere among those that changed. */
const CHANGES = '0'
const DEFAULT_ROLE = 'datanode'

const roleName = (role: string): string => (role === 'datanode' ? t('DataNodes') : role)

const timeOf = (answer: MapAnswer, step: number): string => clockTime(timeOfStep(answer, step), zone.value)

function Sentence(props: { answer: MapAnswer; name: string; usual: SlowAnswer | undefined }): VNode {
  const { answer, name, usual } = props
  const slow = slowHosts(answer)
  const worst = slow[0]
  const spell = suspected(usual)[0]
  if (worst === undefined && spell !== undefined) return <SlowSentence spell={spell} />
  if (worst === undefined) return <NoneSlow answer={answer} name={<b>{visible(name)}</b>} />
  const host = <a href={linkWith({ sel: cellName(answer, worst.host, worst.until) })}>{visible(worst.host)}</a>
  const at = <b>{visible(name)}</b>
  const [ratio, zoned] = [worst.ratio.toFixed(1), zoneName()]
  const [begin, end] = [timeOf(answer, worst.since), timeOf(answer, worst.until)]
  return (
    <>
      {worst.now
        ? tx('{host} is slow at {at}: {ratio} times its peers since {begin} {zoned}.', {
            host,
            at,
            ratio,
            begin,
            zoned,
          })
        : tx('{host} was slow at {at}: {ratio} times its peers from {begin} to {end} {zoned}.', {
            host,
            at,
            ratio,
            begin,
            end,
            zoned,
          })}
      {slow.length === 2 && t(' So was one other host, listed below.')}
      {slow.length > 2 && t(' So were {others} others, listed below.', { others: count(slow.length - 1) })}
    </>
  )
}

function SlowList({ answer, slow }: { answer: MapAnswer; slow: readonly Slow[] }): VNode {
  if (slow.length < 2) return <></>
  return (
    <section>
      <h2>{t('At twice their peers for three steps or more')}</h2>
      <ul class="slow">
        {slow.slice(0, 20).map((one) => (
          <li key={one.host}>
            <button type="button" class="plain" onClick={() => refine({ sel: cellName(answer, one.host, one.until) })}>
              {tx('{host} × {ratio}, {answer} to {more}', {
                host: <b>{visible(one.host)}</b>,
                ratio: one.ratio.toFixed(1),
                answer: timeOf(answer, one.since),
                more: one.now ? t('now') : timeOf(answer, one.until),
              })}
            </button>
          </li>
        ))}
      </ul>
      {slow.length > 20 && (
        <p class="more">{tx('{slow} more are marked in the map.', { slow: count(slow.length - 20) })}</p>
      )}
    </section>
  )
}

interface MappedProps {
  answer: MapAnswer
  name: string
  role: string
  marks: MarksAnswer | undefined
  apps: AppsAnswer | undefined
  slow: SlowAnswer | undefined
  changes: DiffAnswer | undefined
}

function Mapped(props: MappedProps): VNode {
  const { answer } = props
  const marks = props.marks?.marks
  const scheme: Scheme = value('as') === 'absolute' ? 'absolute' : 'peers'
  if (answer.series.length === 0)
    return (
      <>
        <Empty what={t('No calls')} filters={['function', 'role'].filter((name) => value(name))} />
        <Running apps={props.apps?.apps ?? []} />
      </>
    )
  const chosen = chosenCell(answer)
  return (
    <>
      <p class="legend-line quiet-text">
        {tx('{more} · worst first, × in all', {
          more:
            scheme === 'peers' ? (
              <>
                <span class="ramp peers" aria-hidden="true" />{' '}
                {t('a quarter of the median of hosts, the median (white or grey), four times')}
              </>
            ) : (
              <>
                <span class="ramp absolute" aria-hidden="true" /> {t('least to most')}
              </>
            ),
        })}
      </p>
      <div class={chosen === undefined ? '' : 'beside'}>
        <div>
          <Exported name={MAP_NAME} data={() => mapData(answer)}>
            <HostMap answer={answer} scheme={scheme} bands={bandsOf(marks)} />
          </Exported>
          {answer.more === true && (
            <p class="more">
              {tx('The worst {series} hosts.', { series: count(answer.series.length) })}{' '}
              <button type="button" onClick={() => go({ limit: '0' })}>
                {t('Show all, as thin lines')}
              </button>
            </p>
          )}
          <SlowList answer={answer} slow={slowHosts(answer)} />
          <SlowNow answer={props.slow} />
          <Slower answer={props.changes} role={roleName(props.role)} />
          <Running apps={props.apps?.apps ?? []} />
          <Meanwhile answer={answer} marks={marks} apps={props.apps} />
        </div>
        {chosen !== undefined && <CellPanel answer={answer} cell={chosen} function={props.name} role={props.role} />}
      </div>
    </>
  )
}

function Chooser({ functions, chosen }: { functions: readonly FunctionRow[]; chosen: string }): VNode {
  const names = [...new Set([chosen, ...functions.map((row) => row.function)])].filter((name) => name !== '')
  const role = value('role') ?? DEFAULT_ROLE
  return (
    <>
      <Select
        label={t('function')}
        value={chosen}
        options={names.map((name) => [name, visible(name)] as const)}
        choose={(name) => go({ function: name, sel: undefined })}
      />
      <Select
        label={t('of')}
        value={role}
        options={ROLE_OPTIONS}
        choose={(one) => go({ role: one, function: undefined, sel: undefined })}
      />
      <NameField name="function" kind="function" label={t('or')} changes={{ sel: undefined }} />
      <Choice name="field" label="" options={FIELDS} />
      <Choice
        name="as"
        label=""
        options={[
          ['peers', t('against peers')],
          ['absolute', t('absolute')],
        ]}
      />
    </>
  )
}

/** This period against as long before; null: it has no begin. "Now" is the same until a reader asks again. */
function useChanges(role: string): Record<string, string> | null {
  const { since, until } = askedPeriod()
  const sides = useMemo(() => periodSides('', nowNs()), [since, until, askedByReader.value])
  return sides === undefined ? null : { ...sides, role, limit: CHANGES }
}

/** What is asked beside the map. */
function besidesOf(slow: Parameters, changes: Parameters | null, running: readonly AppRow[]): Asked[] {
  return [
    { question: 'marks', parameters: { ...askedPeriod() } },
    { question: 'slow', parameters: slow },
    ...(changes === null ? [] : [{ question: 'diff', parameters: changes }]),
    ...running.map((row) => ({ question: 'why', parameters: runningAsked(row.app), command: false })),
  ]
}

export function OverviewView(): VNode {
  const role = value('role') ?? DEFAULT_ROLE
  const functions = useQuestion<FunctionsAnswer>('functions', {
    ...askedPeriod(),
    role,
    sort: 'self_ns',
    limit: FUNCTIONS,
  })
  const name = value('function') ?? functions.data?.functions[0]?.function
  const parameters = {
    ...askedPeriod(),
    by: 'host',
    role,
    function: name,
    field: value('field') ?? FIELDS[0][0],
    step: value('step'),
    sort: 'ratio',
    limit: value('limit') ?? HOSTS,
  }
  const answer = useQuestion<MapAnswer>('series/columns', name === undefined ? null : parameters, askSeries)
  const marks = useQuestion<MarksAnswer>('marks', { ...askedPeriod() })
  const apps = useQuestion<AppsAnswer>('apps', { limit: APPS })
  const nothing = name === undefined && functions.data !== undefined
  // What costs plumbd much waits for the map, which it would hold up: of 3,000 hosts each takes as long as the map.
  const drawn = nothing || (answer.data ?? answer.error ?? functions.error) !== undefined
  const slowAsked = { ...askedPeriod(), limit: SPELLS }
  const slow = useQuestion<SlowAnswer>('slow', drawn ? slowAsked : null)
  const changesAsked = useChanges(role)
  const changes = useQuestionOnce<DiffAnswer>('diff', drawn ? changesAsked : null)
  const running = runningApps(apps.data?.apps ?? [])
  return (
    <View
      title={t('Overview')}
      question={t('What is slow now?')}
      {...(answer.data === undefined || name === undefined || answer.data.series.length === 0
        ? {}
        : { sentence: <Sentence answer={answer.data} name={name} usual={slow.data} /> })}
      asked={[
        ...(name === undefined ? [] : [{ question: 'series', parameters }]),
        ...besidesOf(slowAsked, changesAsked, running),
      ]}
      tools={<Chooser functions={functions.data?.functions ?? []} chosen={name ?? ''} />}
    >
      {nothing ? (
        <>
          <Empty what={t('No calls of {more}', { more: roleName(role) })} filters={value('role') ? ['role'] : []} />
          <Running apps={apps.data?.apps ?? []} />
        </>
      ) : functions.data === undefined ? (
        <Shown answer={functions} lines={14}>
          {() => null}
        </Shown>
      ) : (
        <Shown answer={answer} lines={14}>
          {(data) => (
            <Mapped
              answer={data}
              name={name ?? ''}
              role={role}
              marks={marks.data}
              apps={apps.data}
              slow={slow.data}
              changes={changesAsked === null ? undefined : changes.data}
            />
          )}
        </Shown>
      )}
    </View>
  )
}
