// What to change in an application, and what that saves.

import type { VNode } from 'preact'
import type { AdviseAnswer, Change, Finding } from '../../api/spark.ts'
import { linkTo } from '../../app/address.ts'
import { t, tx } from '../../text/t.ts'
import { count, duration, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { word } from '../../text/words.ts'

function origin(change: Change): string {
  if (change.from === '') return t('not set')
  return change.set ? visible(change.from) : t('{from} (default)', { from: visible(change.from) })
}

function note(change: Change): string {
  if (change.conflict === true) return t(', not applied: a finding above sets it otherwise')
  return change.program === true ? t(', which the program sets itself: change it there') : ''
}

function Changes({ changes }: { changes: readonly Change[] }): VNode {
  return (
    <ul>
      {changes.map((change) => (
        <li key={change.key}>
          <code>{visible(change.key)}</code>: {origin(change)} → <b>{visible(change.to)}</b>
          {note(change)}
        </li>
      ))}
    </ul>
  )
}

function One({ app, finding }: { app: string; finding: Finding }): VNode {
  return (
    <li>
      <b>{visible(finding.what)}</b> <span class={`severity ${finding.severity}`}>{word(finding.severity)}</span>
      {finding.cost_ns > 0 &&
        t(' costs {cost} of a core, {share}', { cost: duration(finding.cost_ns), share: share(finding.share, 1) })}
      {finding.saves_ns > 0 && t('; a change saves about {saves}', { saves: duration(finding.saves_ns) })}
      {finding.changes.length > 0 && <Changes changes={finding.changes} />}
      {finding.advice !== undefined && <p>{visible(finding.advice)}</p>}
      <details>
        <summary>{tx('Why: {certainty}', { certainty: finding.certainty })}</summary>
        <ul>
          {finding.evidence.map((text) => (
            <li key={text}>{visible(text)}</li>
          ))}
          {finding.formula !== undefined && <li>{visible(finding.formula)}</li>}
          {finding.risk !== undefined && <li>{tx('May become worse: {risk}', { risk: visible(finding.risk) })}</li>}
        </ul>
        {finding.stages.map((stage) => (
          <a key={stage} href={linkTo('stage', app, { stage: `${stage}.0` })}>
            {tx('stage {stage}', { stage })}{' '}
          </a>
        ))}
      </details>
    </li>
  )
}

export function Advice({ answer }: { answer: AdviseAnswer }): VNode {
  const settings = answer.conf.map((one) => `--conf ${one.key}=${one.value}`).join(' ')
  return (
    <>
      {answer.findings.length === 0 ? (
        <p>{t('Nothing: no rule found anything that is worth a change.')}</p>
      ) : (
        <ol class="findings">
          {answer.findings.map((finding) => (
            <One key={`${finding.rule} ${finding.what}`} app={answer.app} finding={finding} />
          ))}
        </ol>
      )}
      {settings !== '' && <p>{tx('For spark-submit: {settings}', { settings: <code>{visible(settings)}</code> })}</p>}
      {answer.unknown.length > 0 && (
        <p class="more">
          {tx('{unknown} not judged: {unknown2}.', {
            unknown: count(answer.unknown.length),
            unknown2: answer.unknown.map((one) => visible(one.why)).join('; '),
          })}
        </p>
      )}
    </>
  )
}
