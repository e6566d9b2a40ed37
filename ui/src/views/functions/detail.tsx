// A row that is open: how the function went over time, how its calls are spread, and on which hosts.

import type { VNode } from 'preact'
import type { DistributionAnswer, FunctionRow, SeriesAnswer } from '../../api/answers.ts'
import { linkTo } from '../../app/address.ts'
import type { MarksAnswer } from '../../api/marks.ts'
import { askedPeriod } from '../../app/period.ts'
import { useQuestion, type Answer } from '../../app/question.ts'
import { Curve, type Line } from '../../marks/curve.tsx'
import { LatencyMap, latencyData, type Area } from '../../parts/latency.tsx'
import { curveData } from '../../parts/data-of.ts'
import { Exported } from '../../parts/export.tsx'
import { bandsOf } from '../../parts/marks.tsx'
import { Spread, Spreading, WRITE, type SpreadAsked } from '../../parts/spreading.tsx'
import { Shown } from '../../parts/states.tsx'
import { Sames } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

const HOSTS = '8'

function linesOf(answer: SeriesAnswer, label: string, number: number): Line[] {
  const row = answer.series[0]
  if (row === undefined) return []
  const since = answer.since_time_ns ?? 0n
  const points = row.at.map((step, i) => ({
    time: since + (BigInt(2 * step + 1) * BigInt(answer.step_ns ?? 1)) / 2n,
    value: row.values[i]!,
  }))
  return [{ label, className: `line-${number}`, points }]
}

function Hosts({ answer, row }: { answer: SeriesAnswer; row: FunctionRow }): VNode {
  if (answer.series.length < 2) return <></>
  return (
    <div>
      <h3>{t('By host, against the median of all')}</h3>
      <ul class="host-list">
        {answer.series.map((one) => {
          const ratio = one.ratio ?? 0
          return (
            <li key={one.host}>
              <a href={linkTo('hosts', one.host)}>{visible(one.host ?? '')}</a>
              <span class="ratio-bar" aria-hidden="true">
                <span
                  class={ratio >= 1.5 ? 'slow-bar' : 'fine'}
                  style={{
                    width: `${Math.min(100, (100 * ratio) / Math.max(2, answer.series[0]!.ratio ?? 2)).toFixed(1)}%`,
                  }}
                />
              </span>
              <span>{one.ratio === undefined ? '-' : `× ${ratio.toFixed(2)}`}</span>
            </li>
          )
        })}
      </ul>
      <p>
        <a href={linkTo('overview', '', { function: row.function, role: row.role })}>{t('All hosts over time')}</a>
      </p>
    </div>
  )
}

function OverTime({ asked, mean, name }: { asked: SpreadAsked; mean: Answer<SeriesAnswer>; name: string }): VNode {
  const high = useQuestion<SeriesAnswer>('series', { ...asked, field: 'q95_ns' })
  const marks = useQuestion<MarksAnswer>('marks', { ...askedPeriod(), host: asked.host })
  return (
    <div>
      <h3>{t('Mean and 95th of 100 over time')}</h3>
      <Shown answer={mean} lines={4}>
        {(data) => {
          const lines = [...linesOf(data, 'mean', 0), ...(high.data ? linesOf(high.data, '95 %', 1) : [])]
          return (
            <Exported name={t('{name} over time', { name })} data={() => curveData(lines, 'ns', WRITE.duration)}>
              <Curve
                lines={lines}
                since={data.since_time_ns ?? 0n}
                until={data.until_time_ns ?? 1n}
                stepNs={data.step_ns ?? 1}
                write={WRITE.duration}
                height={190}
                bands={bandsOf(marks.data?.marks)}
                choosesPeriod
                label={t('{name} over time', { name })}
              />
            </Exported>
          )
        }}
      </Shown>
    </div>
  )
}

function tracesLink(row: FunctionRow, area: Area): string {
  return linkTo('traces', '', {
    since: String(area.since),
    until: String(area.until),
    function: row.function,
    role: row.role,
    host: row.host,
    call_min_duration: `${Math.floor(area.least)}ns`,
    call_max_duration: `${Math.ceil(area.most)}ns`,
    sort: 'duration_ns',
  })
}

/** Calls slower than 95 of 100. */
function slowestLink(row: FunctionRow): string {
  return linkTo('traces', '', {
    function: row.function,
    role: row.role,
    host: row.host,
    call_min_duration: `${Math.floor(row.q95_ns!)}ns`,
    sort: 'duration_ns',
  })
}

const LATENCY = t('Durations over time')
const COUNTED = [t('call'), t('calls')] as const

function Spreads({ answer, row, asked }: { answer: DistributionAnswer; row: FunctionRow; asked: SpreadAsked }): VNode {
  return (
    <div>
      <h3>{tx('Durations of {calls} calls', { calls: count(row.calls) })}</h3>
      <Spreading of="duration" data={answer} name={t('calls')} label={t('How calls are spread by duration')} />
      {row.bytes !== undefined && (
        <div class="columns narrow">
          <Spread of="bytes" asked={asked} />
          <Spread of="rate" asked={asked} />
        </div>
      )}
    </div>
  )
}

export function FunctionDetail({ row }: { row: FunctionRow }): VNode {
  const asked = { ...askedPeriod(), function: row.function, role: row.role, host: row.host }
  const mean = useQuestion<SeriesAnswer>('series', asked)
  const step = mean.data?.step_ns
  const spread = useQuestion<DistributionAnswer>(
    'distribution',
    step === undefined ? null : { ...asked, step: `${Math.round(step / 1e9)}s` },
  )
  const byHost = { ...asked, by: 'host', sort: 'ratio', limit: HOSTS }
  const hosts = useQuestion<SeriesAnswer>('series', byHost)
  return (
    <div class="function-detail">
      <OverTime asked={asked} mean={mean} name={row.function} />
      <div>
        <h3>{t('Calls by time and duration')}</h3>
        <Shown answer={spread} lines={4}>
          {(data) => (
            <Exported name={LATENCY} data={() => latencyData({ answer: data, write: WRITE.duration, what: COUNTED })}>
              <LatencyMap
                answer={data}
                write={WRITE.duration}
                what={COUNTED}
                hint={t('A click, a rectangle or Enter leads to the traces with such calls.')}
                onChoose={(area) => (location.hash = tracesLink(row, area))}
              />
            </Exported>
          )}
        </Shown>
      </div>
      {spread.data !== undefined && <Spreads answer={spread.data} row={row} asked={asked} />}
      <Shown answer={hosts} lines={4}>
        {(data) => <Hosts answer={data} row={row} />}
      </Shown>
      <p class="buttons">
        <a
          class="button"
          href={linkTo('traces', '', { function: row.function, role: row.role, host: row.host, sort: 'duration_ns' })}
        >
          {t('Slowest traces with it')}
        </a>
        {row.q95_ns !== undefined && (
          <a class="button" href={slowestLink(row)}>
            {t('Its slowest 5 %')}
          </a>
        )}
        <a class="button" href={linkTo('forest', '', { function: row.function })}>
          {t('Its call trees')}
        </a>
      </p>
      <div class="sames">
        <Sames
          asked={[
            { question: 'series', parameters: asked },
            { question: 'distribution', parameters: asked },
            { question: 'series', parameters: byHost },
          ]}
        />
      </div>
    </div>
  )
}
