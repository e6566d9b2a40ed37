// What stands where an answer is not, or not yet, or no more.

import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Period } from '../api/answers.ts'
import { go, value } from '../app/address.ts'
import { zone, zoneName } from '../app/choices.ts'
import { EVERYTHING, absolute, askedPeriod, nowNs } from '../app/period.ts'
import { askAgain, type Answer } from '../app/question.ts'
import { storeStatus } from '../app/store.ts'
import { t, tx } from '../text/t.ts'
import { dayTime } from '../text/times.ts'
import { age } from '../text/units.ts'
import { word } from '../text/words.ts'

const HOUR_NS = 3_600_000_000_000n

export function Skeleton({ lines = 8 }: { lines?: number }): VNode {
  return (
    <div class="skeleton" role="status" aria-label={t('Loading')}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  )
}

const isSet = (name: string): boolean => value(name) !== undefined

function WithoutFilters({ names }: { names: readonly string[] }): VNode {
  return (
    <button type="button" onClick={() => go(Object.fromEntries(names.map((name) => [name, undefined])))}>
      {t('Without the filters')}
    </button>
  )
}

function Failed({ error, filters }: { error: string; filters: readonly string[] }): VNode {
  return (
    <div class="notice bad" role="alert">
      <p>{error}</p>
      {filters.length > 0 && <WithoutFilters names={filters} />}
      <button type="button" onClick={askAgain}>
        {t('Ask again')}
      </button>
    </div>
  )
}

function GoneNotice({ answer }: { answer: Answer<unknown> }): VNode {
  const [now, setNow] = useState(performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="notice warn" role="alert">
      <p>
        {t('{error}. {what}', {
          error: word(answer.error ?? ''),
          what:
            answer.data === undefined
              ? t('It is asked until it is back.')
              : t('What is shown is {now} old; it is asked until it is back.', {
                  now: age((now - answer.answeredAt) * 1e6),
                }),
        })}
      </p>
    </div>
  )
}

/** children: what is drawn of an answer. names: parameters that name what may not be there. */
export function Shown<T>({
  answer,
  lines,
  names = [],
  children,
}: {
  answer: Answer<T>
  lines?: number
  names?: readonly string[]
  children: (data: T) => ComponentChildren
}): VNode {
  const { data, error, gone, loading, unknown } = answer
  return (
    <>
      {gone && <GoneNotice answer={answer} />}
      {error !== undefined && !gone && <Failed error={error} filters={unknown === true ? names.filter(isSet) : []} />}
      {data !== undefined && <div class={gone ? 'old' : loading ? 'again' : ''}>{children(data)}</div>}
      {data === undefined && error === undefined && <Skeleton {...(lines === undefined ? {} : { lines })} />}
    </>
  )
}

function PeriodHelp(): VNode {
  const store = storeStatus.value?.store
  const first = store?.first_time_ns
  const last = store?.last_time_ns
  const { since, until } = askedPeriod()
  if (first === undefined || last === undefined || (since === undefined && until === undefined)) return <></>
  return (
    <>
      <p>
        {tx('Traces are stored from {first} to {last} ({zoneName}).', {
          first: dayTime(first, zone.value),
          last: dayTime(last, zone.value),
          zoneName: zoneName(),
        })}
      </p>
      <p class="buttons">
        <button
          type="button"
          onClick={() => go({ since: String(last - HOUR_NS), until: String(last + 60_000_000_000n) })}
        >
          {t('The last hour that is stored')}
        </button>
        <button type="button" onClick={() => go({ since: EVERYTHING, until: undefined })}>
          {t('Everything that is stored')}
        </button>
      </p>
    </>
  )
}

/** More than the minutes that every period is widened by. */
const WIDENED_NS = 120_000_000_000n

/** Where statistics by the minute have expired, an answer is of whole hours or days. */
export function Widened({ answer }: { answer: Period }): VNode {
  const asked = absolute(nowNs())
  const { since_time_ns: since, until_time_ns: until } = answer
  if (asked === undefined || since === undefined || until === undefined) return <></>
  if (until - since <= asked.untilNs - asked.sinceNs + WIDENED_NS) return <></>
  return (
    <p class="more">
      {t('Statistics of that time are kept by the hour or day: these are of {since} to {until} {zoneName}.', {
        since: dayTime(since, zone.value),
        until: dayTime(until, zone.value),
        zoneName: zoneName(),
      })}
    </p>
  )
}

/** what: "No calls". filters: names of the parameters that may be the reason. */
export function Empty({ what, filters = [] }: { what: string; filters?: readonly string[] }): VNode {
  const nothing = storeStatus.value?.store.traces === 0
  return (
    <div class="empty">
      <h2>{nothing ? t('Nothing is stored yet') : what}</h2>
      {nothing ? (
        <p>
          {tx('plumbd is ready, and no span has come. Put the agent into HDFS and Spark ({link}), or see {link2}.', {
            link: <code>docs/tracing.md</code>,
            link2: <code>script/server --demo</code>,
          })}
        </p>
      ) : (
        <PeriodHelp />
      )}
      {!nothing && filters.length > 0 && (
        <p class="buttons">
          <WithoutFilters names={filters} />
        </p>
      )}
    </div>
  )
}
