// The jobs of an application, each with its stages.

import type { VNode } from 'preact'
import type { JobRow, JobsAnswer } from '../../api/spark.ts'
import { linkTo } from '../../app/address.ts'
import { Bar } from '../../parts/bits.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'

const STAGES_SHOWN = 12

export const jobText = (row: JobRow): string =>
  visible(row.description ?? row.call_site ?? t('job {job}', { job: row.job }))

function Stages({ app, row }: { app: string; row: JobRow }): VNode {
  return (
    <>
      {row.stages.slice(0, STAGES_SHOWN).map((stage, i) => (
        <>
          {i > 0 && ' '}
          <a class="number-link" href={linkTo('stage', app, { stage: `${stage}.0` })}>
            {stage}
          </a>
        </>
      ))}
      {row.stages.length > STAGES_SHOWN && t(' and {stages} more', { stages: count(row.stages.length - STAGES_SHOWN) })}
    </>
  )
}

function columnsOf(answer: JobsAnswer): Column<JobRow>[] {
  const longest = Math.max(1, ...answer.jobs.map((row) => row.duration_ns ?? 0))
  return [
    { key: 'job', head: t('job'), text: true, cell: (row) => `${row.job} ${jobText(row)}` },
    {
      key: 'state',
      head: t('state'),
      text: true,
      cell: (row) =>
        row.error === undefined ? word(row.state) : `${word(row.state)}: ${visible(row.error.split('\n')[0] ?? '')}`,
    },
    {
      key: 'duration',
      head: t('duration'),
      cell: (row) => (
        <Bar part={row.duration_ns ?? 0} whole={longest}>
          {row.duration_ns === undefined ? '-' : duration(row.duration_ns)}
        </Bar>
      ),
    },
    { key: 'stages', head: t('stages'), text: true, cell: (row) => <Stages app={answer.app} row={row} /> },
    { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
    { key: 'failed', head: t('not well'), cell: (row) => count(row.failed_tasks) },
  ]
}

export function Jobs({ answer }: { answer: JobsAnswer }): VNode {
  if (answer.jobs.length === 0) return <p>{t('No job of it is stored.')}</p>
  return (
    <>
      <Table label={t('Jobs')} columns={columnsOf(answer)} rows={answer.jobs} rowKey={(row) => String(row.job)} />
      {answer.more === true && <p class="more">{tx('The first {jobs}.', { jobs: count(answer.jobs.length) })}</p>}
    </>
  )
}
