// The tasks of a stage as stacked bars of their operations, the longest first.

import type { VNode } from 'preact'
import type { OperationName, PipelinesAnswer } from '../../api/operations.ts'
import { linkToTask } from '../../app/address.ts'
import type { ChartData } from '../../parts/csv.ts'
import { Exported } from '../../parts/export.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

export const COLOURS = 6

const NAME = t('Tasks as bars of their operations')
const MS = 1e6
export const msText = (ms: number): string => duration(ms * MS, MS / 1000)

/** "ZippedPartitionsRDD2 8, join at Report.scala:27" */
export function operationName(of: OperationName): string {
  const simple = of.rdd_name ?? of.class?.replace(/^.*\./, '') ?? t('others')
  return visible(`${simple}${of.rdd === undefined ? '' : ` ${of.rdd}`}`)
}

export function Swatch({ number }: { number: number }): VNode {
  return <span class={`swatch op-${number % COLOURS}`} aria-hidden="true" />
}

function Row({
  answer,
  of,
  most,
}: {
  answer: PipelinesAnswer
  of: PipelinesAnswer['pipelines'][number]
  most: number
}): VNode {
  const parts = of.operations_ms.map((ms, i) => `${operationName(answer.operations[i]!)} ${msText(ms)}`)
  const label = t('task {task} on {host}: {duration}; {parts}', {
    task: of.task,
    host: visible(of.host),
    duration: msText(of.duration_ms),
    parts: parts.join(', '),
  })
  return (
    <a class="pipeline" href={linkToTask(answer.app, { ...answer, task: of.task })} title={label}>
      <span class="pipeline-name">{of.task}</span>
      <span class="pipeline-bar">
        {of.operations_ms.map((ms, i) => (
          <span key={i} class={`op-${i % COLOURS}`} style={{ width: `${((100 * ms) / most).toFixed(3)}%` }} />
        ))}
      </span>
      <span class="pipeline-time">{msText(of.duration_ms)}</span>
    </a>
  )
}

function dataOf({ pipelines, operations }: PipelinesAnswer): ChartData {
  return {
    head: [t('task'), t('duration'), ...operations.map(operationName)],
    unit: 'ms',
    rows: pipelines.map((one) => [String(one.task), one.duration_ms, ...one.operations_ms]),
    write: msText,
  }
}

export function Pipelines({ answer }: { answer: PipelinesAnswer }): VNode {
  const most = Math.max(
    1e-9,
    ...answer.pipelines.map((one) =>
      Math.max(
        one.duration_ms,
        one.operations_ms.reduce((a, b) => a + b, 0),
      ),
    ),
  )
  return (
    <>
      <ul class="legend">
        {answer.operations.map((one, i) => (
          <li key={i}>
            <Swatch number={i} /> {operationName(one)}
          </li>
        ))}
      </ul>
      <Exported name={NAME} data={() => dataOf(answer)}>
        <div class="pipelines">
          {answer.pipelines.map((one) => (
            <Row key={one.task} answer={answer} of={one} most={most} />
          ))}
        </div>
      </Exported>
      {answer.more === true && (
        <p class="more">
          {tx('The {pipelines} longest of {pipelinesTotal} tasks.', {
            pipelines: count(answer.pipelines.length),
            pipelinesTotal: count(answer.pipelines_total),
          })}
        </p>
      )}
    </>
  )
}
