// What ran on Spark?

import type { VNode } from 'preact'
import type { AppAdvice, AppRow, AppsAnswer } from '../../api/spark.ts'
import { go, linkTo, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { useQuestion, useQuestionOnce } from '../../app/question.ts'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'

const LIMIT = '100'
/** Of so many, the newest, it is asked what to change, once: for each all tasks are read. */
const ADVISED = '20'

type Advised = ReadonlyMap<string, AppAdvice>

function AdviceCell({ advice }: { advice: AppAdvice | undefined }): VNode {
  if (advice === undefined) return <>-</>
  if (advice.severity === undefined) return <span title={visible(advice.not_judged ?? '')}>{t('not judged')}</span>
  return (
    <span class={`severity ${advice.severity}`} title={visible(advice.what ?? '')}>
      {word(advice.severity)}
      {advice.rule !== undefined && `, ${advice.rule}`}
    </span>
  )
}

const columnsWith = (advised: Advised): readonly Column<AppRow>[] => [
  {
    key: 'name',
    head: t('application'),
    text: true,
    cell: (row) => <a href={linkTo('app', row.app)}>{visible(row.name ?? row.id)}</a>,
  },
  { key: 'app', head: t('id'), text: true, cell: (row) => <code>{visible(row.app)}</code> },
  {
    key: 'state',
    head: t('state'),
    text: true,
    cell: (row) => <span class={`state-of ${row.state}`}>{word(row.state)}</span>,
  },
  { key: 'user', head: t('user'), text: true, cell: (row) => visible(row.user ?? '') },
  {
    key: 'begin',
    head: t('begin'),
    cell: (row) => (row.begin_time_ns === undefined ? '-' : dayTime(row.begin_time_ns, zone.value)),
  },
  {
    key: 'duration',
    head: t('duration'),
    cell: (row) => (row.duration_ns === undefined ? '-' : duration(row.duration_ns)),
  },
  { key: 'stages', head: t('stages'), cell: (row) => count(row.stages) },
  { key: 'tasks', head: t('tasks'), cell: (row) => count(row.tasks) },
  { key: 'executors', head: t('executors'), cell: (row) => count(row.executors) },
  { key: 'advice', head: t('advice'), text: true, cell: (row) => <AdviceCell advice={advised.get(row.app)} /> },
]

function NoApps(): VNode {
  return (
    <div class="empty">
      <h2>{t('No application of Spark is stored')}</h2>
      <p>
        {tx('{link} sends the records of event logs to plumbd ({link2}).', {
          link: <code>plumb-bridge</code>,
          link2: <code>docs/spark.md</code>,
        })}
      </p>
    </div>
  )
}

/** Nothing where only the newest are known. */
function runningNow({ apps, more }: AppsAnswer): string {
  if (more) return ''
  const running = apps.filter((row) => row.state === 'running').length
  return running === 0 ? t('None of them runs.') : t('Running now: {running}.', { running: count(running) })
}

function sentence(answer: AppsAnswer | undefined): VNode | undefined {
  const newest = answer?.apps[0]
  if (answer === undefined || newest === undefined) return undefined
  return (
    <>
      {tx('The newest is {name}. {running}', {
        name: <a href={linkTo('app', newest.app)}>{visible(newest.name ?? newest.id)}</a>,
        running: runningNow(answer),
      })}
    </>
  )
}

export function AppsView(): VNode {
  const parameters = { limit: value('limit') ?? LIMIT }
  const answer = useQuestion<AppsAnswer>('apps', parameters)
  const advisedAsked = { advice: 'true', limit: ADVISED }
  const advised = useQuestionOnce<AppsAnswer>('apps', advisedAsked)
  const found = (advised.data?.apps ?? []).flatMap((row) =>
    row.advice === undefined ? [] : [[row.app, row.advice] as const],
  )
  return (
    <View
      title={t('Applications')}
      question={t('What ran on Spark?')}
      sentence={sentence(answer.data)}
      asked={[
        { question: 'apps', parameters },
        { question: 'apps', parameters: advisedAsked },
      ]}
    >
      <Shown answer={answer} lines={10}>
        {(data) =>
          data.apps.length === 0 ? (
            <NoApps />
          ) : (
            <>
              {advised.error !== undefined && !advised.gone && (
                <p class="notice warn" role="alert">
                  {advised.error}
                </p>
              )}
              <Table
                label={t('Applications')}
                columns={columnsWith(new Map(found))}
                rows={data.apps}
                rowKey={(row) => row.app}
              />
              {data.more === true && (
                <p class="more">
                  {tx('The newest {apps}.', { apps: count(data.apps.length) })}{' '}
                  <button type="button" onClick={() => go({ limit: '0' })}>
                    {t('Show all')}
                  </button>
                </p>
              )}
            </>
          )
        }
      </Shown>
    </View>
  )
}
