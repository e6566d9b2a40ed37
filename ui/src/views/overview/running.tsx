// Tasks of Spark that still run and take long already, of the applications that run.

import type { VNode } from 'preact'
import type { Parameters } from '../../api/ask.ts'
import type { AppRow, WhyAnswer } from '../../api/spark.ts'
import { linkTo, linkToTask } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { Cause } from '../../parts/cause.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** Of so many, the newest, it is asked: all their tasks are read. */
const APPS = 3
const TASKS = 5

const isRunning = (row: AppRow): boolean => row.state === 'running'
export const runningApps = (apps: readonly AppRow[]): AppRow[] => apps.filter(isRunning).slice(0, APPS)

export const runningAsked = (app: string): Parameters => ({ app, status: 'running', limit: String(TASKS) })

function RunningApp({ row }: { row: AppRow }): VNode {
  const { data } = useQuestion<WhyAnswer>('why', runningAsked(row.app))
  if (data === undefined || data.stragglers.length === 0) return <></>
  return (
    <section>
      <h2>{tx('Slow tasks that still run: {app}', { app: visible(row.name ?? row.id) })}</h2>
      <ul class="suspects running-tasks">
        {data.stragglers.map((one) => (
          <li key={one.task}>
            <a href={linkToTask(row.app, one)}>
              {tx('task {task} of stage {stage}.{stageAttempt}', {
                task: one.task,
                stage: one.stage,
                stageAttempt: one.stage_attempt,
              })}
            </a>
            {one.host !== undefined && t(' on {host}', { host: visible(one.host) })}
            {': '}
            {t('{duration} so far, {scale} times the median.', {
              duration: duration(one.duration_ns),
              scale: one.scale.toFixed(1),
            })}{' '}
            <Cause straggler={one} />
          </li>
        ))}
      </ul>
      {data.stragglers_total > data.stragglers.length && (
        <p class="more">
          {tx('{more} more in {app}.', {
            more: count(data.stragglers_total - data.stragglers.length),
            app: <a href={linkTo('app', row.app)}>{visible(row.app)}</a>,
          })}
        </p>
      )}
    </section>
  )
}

export function Running({ apps }: { apps: readonly AppRow[] }): VNode {
  const others = apps.filter(isRunning).length - APPS
  return (
    <>
      {runningApps(apps).map((row) => (
        <RunningApp key={row.app} row={row} />
      ))}
      {others > 0 && (
        <p class="more">
          {t('Older applications that run, whose tasks are not looked at here: {others}', { others: count(others) })}
        </p>
      )}
    </>
  )
}
