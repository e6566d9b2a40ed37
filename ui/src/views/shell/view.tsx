// An analysis of plumb, run by plumbd: what it writes, as it comes.

import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { beginRun, type AnalysesAnswer, type Analysis, type RunsAnswer, type ShellRun } from '../../api/shell.ts'
import { go, value } from '../../app/address.ts'
import { zone } from '../../app/choices.ts'
import { useQuestion } from '../../app/question.ts'
import { Shown } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { View } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { dayTime } from '../../text/times.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { chosenOf, commandOf, keyOf, lackingOf, parametersOf, withoutValues, type Chosen } from './fields.ts'
import { Form, useNames } from './form.tsx'
import { Lines, StateOf, tookOf, useOutput, type Output } from './output.tsx'
import { analysisOfLine, type Read } from './prompt.ts'
import { PromptField } from './prompt-field.tsx'

const COLUMNS: readonly Column<ShellRun>[] = [
  {
    key: 'command',
    head: t('command'),
    text: true,
    cell: (run) => (
      <button type="button" class="plain" title={t('Its lines')} onClick={() => go({ run: run.id })}>
        <code>{visible(run.command)}</code>
      </button>
    ),
  },
  { key: 'state', head: t('state'), text: true, cell: (run) => <StateOf state={run.state} /> },
  { key: 'by', head: t('by'), text: true, cell: (run) => visible(run.by) },
  { key: 'begin', head: t('begin'), cell: (run) => dayTime(run.begin_time_ns, zone.value) },
  { key: 'took', head: t('took'), cell: tookOf },
  { key: 'lines', head: t('lines'), cell: (run) => count(run.lines) },
]

function Earlier({ runs, shown }: { runs: readonly ShellRun[]; shown: string | undefined }): VNode {
  return (
    <section>
      <h2>{t('Runs')}</h2>
      {runs.length === 0 ? (
        <p class="quiet-text">{t('Nothing was run since plumbd started.')}</p>
      ) : (
        <Table
          label={t('Runs')}
          columns={COLUMNS}
          rows={runs}
          rowKey={(run) => run.id}
          rowClass={(run) => (run.id === shown ? 'chosen' : '')}
        />
      )}
    </section>
  )
}

/** Of a character of the lines, and beside them: style.css has both. */
const CHARACTER_PX = 7.3
const BESIDE_PX = 64

function columnsOf(place: HTMLElement | null): number {
  const room = Math.floor(((place?.clientWidth ?? 1000) - BESIDE_PX) / CHARACTER_PX)
  return Math.min(400, Math.max(40, room))
}

interface Begin {
  readonly begin: (analysis: Analysis, chosen: Chosen) => void
  /** One is on its way. */
  readonly busy: boolean
  /** Why none was begun. */
  readonly refused: string
  readonly refuse: (why: string) => void
}

function useBegin(place: { readonly current: HTMLElement | null }): Begin {
  const [busy, setBusy] = useState(false)
  const [refused, refuse] = useState('')
  const begin = (analysis: Analysis, chosen: Chosen): void => {
    if (busy) return
    setBusy(true)
    refuse('')
    beginRun(analysis.analysis, parametersOf(chosen), columnsOf(place.current))
      .then(
        (run) => go({ run: run.id }),
        (error: unknown) => refuse((error as Error).message),
      )
      .finally(() => setBusy(false))
  }
  return { begin, busy, refused, refuse }
}

/** "plumb" stands before the line. */
const lineOf = (command: string): string => command.replace(/^plumb /, '')

function Off({ why }: { why: string }): VNode {
  return (
    <div class="empty">
      <h2>{t('No analyses are run here')}</h2>
      <p>{visible(why)}.</p>
      <p>{tx('In a terminal, {link} lists the same.', { link: <code>plumb --help</code> })}</p>
    </div>
  )
}

function sentence(output: Output | undefined): VNode {
  if (output === undefined)
    return <>{t('Choose an analysis, and run it: plumbd starts plumb, and its lines come here as it writes them.')}</>
  if (output.run === undefined) return <>{tx('{lines} lines so far.', { lines: count(output.lines) })}</>
  const { state } = output.run
  if (state === 'done') return <>{tx('It is done, with {lines} lines.', { lines: count(output.lines) })}</>
  if (state === 'stopped') return <>{t('It was stopped.')}</>
  return (
    <span class="warn-text">
      {state === 'cut' ? t('It was ended at a limit.') : t('It failed: its lines say why.')}
    </span>
  )
}

interface AnalysesProps {
  readonly analyses: readonly Analysis[]
  readonly analysis: Analysis
  readonly runs: readonly ShellRun[]
  readonly begin: Begin
}

/** The line and the fields: what is typed in the one is in the others once it runs. */
function Analyses({ analyses, analysis, runs, begin }: AnalysesProps): VNode {
  const chosen = chosenOf(analysis)
  const command = lineOf(commandOf(analysis, chosen))
  const [typed, type] = useState<string>()
  const meant = typed === undefined ? undefined : analysisOfLine(typed, analyses)
  const names = useNames(meant ?? analysis)
  useEffect(() => type(undefined), [command])
  const runLine = (read: Read): void => {
    if ('error' in read) {
      begin.refuse(read.error)
      return
    }
    const values = read.chosen.map(([parameter, texts]) => [keyOf(parameter), texts] as const)
    go({ ...withoutValues(analysis, { do: read.analysis.analysis }), ...Object.fromEntries(values) })
    type(undefined)
    begin.begin(read.analysis, read.chosen)
  }
  const runFields = (): void => {
    const lacking = lackingOf(analysis)
    if (lacking === undefined) begin.begin(analysis, chosen)
    else begin.refuse(t('{lacking} is needed.', { lacking }))
  }
  return (
    <>
      <PromptField
        analyses={analyses}
        names={names}
        command={command}
        typed={typed}
        type={type}
        earlier={[...new Set(runs.map((run) => lineOf(run.command)))]}
        busy={begin.busy}
        run={runLine}
      />
      <div>
        {begin.refused !== '' && (
          <p class="notice bad" role="alert">
            {visible(begin.refused)}
          </p>
        )}
        <Form analyses={analyses} analysis={analysis} names={names} running={begin.busy} run={runFields} />
      </div>
    </>
  )
}

export function ShellView(): VNode {
  const answer = useQuestion<AnalysesAnswer>('shell/analyses', {})
  const analyses = answer.data?.analyses
  const analysis = analyses?.find((one) => one.analysis === (value('do') ?? 'slow')) ?? analyses?.[0]
  const shown = value('run')
  const output = useOutput(shown)
  const place = useRef<HTMLDivElement>(null)
  const begin = useBegin(place)
  // Another address, so that the list is asked for again: it tells of the new run, and of its end.
  const runs = useQuestion<RunsAnswer>('shell/runs', { shown, state: output?.run?.state })
  return (
    <View
      title={t('Shell')}
      question={t('What does plumb say? Analyses of a fixed list, run by plumbd.')}
      sentence={answer.data?.enabled === true ? sentence(output) : undefined}
      asked={[{ question: 'shell/runs', parameters: {}, command: false }]}
    >
      <Shown answer={answer} lines={10}>
        {(data) =>
          !data.enabled || analysis === undefined ? (
            <Off why={data.why ?? t('plumbd has no analyses')} />
          ) : (
            <div class="shell">
              <Analyses analyses={data.analyses} analysis={analysis} runs={runs.data?.runs ?? []} begin={begin} />
              <div ref={place}>
                {output !== undefined && (
                  <Lines output={output} known={runs.data?.runs.find((run) => run.id === shown)} />
                )}
                <Shown answer={runs} lines={4}>
                  {(list) => <Earlier runs={list.runs} shown={shown} />}
                </Shown>
              </div>
            </div>
          )
        }
      </Shown>
    </View>
  )
}
