// The period that is asked for.

import type { VNode } from 'preact'
import { go, lastingLink, value } from '../app/address.ts'
import { zone, zoneName } from '../app/choices.ts'
import { DEFAULT_PERIOD, EVERYTHING, PERIODS, absolute, nowNs, pointOf, shifted } from '../app/period.ts'
import { storeStatus } from '../app/store.ts'
import { Copy } from '../parts/view.tsx'
import { t } from '../text/t.ts'
import { dayTime } from '../text/times.ts'

export function shiftPeriod(by: -1 | 1): void {
  const now = absolute(nowNs())
  if (now) go(shifted(now.sinceNs, now.untilNs, by))
}

/** What is typed becomes UTC when it names no zone, as in the API; a wrong text is left to plumbd, which says why. */
function Field({ name, label }: { name: 'since' | 'until'; label: string }): VNode {
  const text = value(name) ?? ''
  const shown = /^\d{16,}$/.test(text)
    ? dayTime(BigInt(text), 'utc').replace(' ', 'T')
    : text === EVERYTHING
      ? ''
      : text
  return (
    <label>
      <span class="label">{label}</span>
      <input
        id={`period-${name}`}
        type="text"
        size={19}
        spellcheck={false}
        value={shown}
        placeholder={name === 'since' ? t('{period} ago', { period: DEFAULT_PERIOD }) : t('now')}
        title={t('2h, 2026-11-21T10:00 (UTC), 2026-11-21T10:00+08:00, or ns since 1970')}
        onChange={(event) => {
          const typed = event.currentTarget.value.trim()
          const point = /^\d/.test(typed) && typed.includes('-') ? pointOf(typed, nowNs()) : undefined
          go({ [name]: point === undefined ? typed : String(point) })
        }}
      />
    </label>
  )
}

function Shown(): VNode {
  const now = absolute(nowNs())
  const store = storeStatus.value?.store
  if (now)
    return (
      <>
        {t('{since} to {until} {zoneName}', {
          since: dayTime(now.sinceNs, zone.value),
          until: dayTime(now.untilNs, zone.value),
          zoneName: zoneName(),
        })}
      </>
    )
  if (store?.first_time_ns === undefined || store.last_time_ns === undefined) return <></>
  return (
    <>
      {t('{firstTime} to {lastTime} {zoneName}', {
        firstTime: dayTime(store.first_time_ns, zone.value),
        lastTime: dayTime(store.last_time_ns, zone.value),
        zoneName: zoneName(),
      })}
    </>
  )
}

export function PeriodBar(): VNode {
  const until = value('until')
  const since = value('since') ?? (until === undefined ? DEFAULT_PERIOD : '')
  return (
    <div class="period" role="group" aria-label={t('Period')}>
      <div class="choice">
        {[...PERIODS, EVERYTHING].map((period) => (
          <button
            key={period}
            type="button"
            aria-pressed={until === undefined && since === period}
            onClick={() => go({ since: period === DEFAULT_PERIOD ? undefined : period, until: undefined })}
          >
            {period === EVERYTHING ? t('all') : period}
          </button>
        ))}
      </div>
      <button
        type="button"
        title={t('Half a period earlier ([)')}
        aria-label={t('Half a period earlier')}
        onClick={() => shiftPeriod(-1)}
      >
        ‹
      </button>
      <button
        type="button"
        title={t('Half a period later (])')}
        aria-label={t('Half a period later')}
        onClick={() => shiftPeriod(1)}
      >
        ›
      </button>
      <Field name="since" label={t('from')} />
      <Field name="until" label={t('to')} />
      <span class="quiet-text">
        <Shown />
      </span>
      <Copy
        text={() => {
          const now = absolute(nowNs())
          return now === undefined ? location.href : lastingLink(now.sinceNs, now.untilNs)
        }}
        label={t('copy link')}
      />
    </div>
  )
}
