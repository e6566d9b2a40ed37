// The main cause of a slow task, as a sentence.

import type { VNode } from 'preact'
import type { Straggler, Suspect } from '../api/spark.ts'
import { linkTo } from '../app/address.ts'
import { t, tx } from '../text/t.ts'
import { duration } from '../text/units.ts'
import { visible } from '../text/visible.ts'
import { word } from '../text/words.ts'

export function suspectText(suspect: Suspect): string {
  const where = [suspect.process, suspect.host].filter((part) => part !== undefined && part !== '')[0] ?? suspect.role
  if (suspect.resource === 'client' && suspect.function === 'completeFile')
    return t('late report of a block, for which {where} slept', { where: visible(where) })
  return t('{resource} of {where}', { resource: word(suspect.resource), where: visible(where) })
}

export function SuspectLink({ suspect }: { suspect: Suspect }): VNode {
  const text = suspectText(suspect)
  return suspect.host === undefined ? <>{text}</> : <a href={linkTo('hosts', suspect.host)}>{text}</a>
}

export function Cause({ straggler }: { straggler: Straggler }): VNode {
  const cause = straggler.main_cause
  if (cause === undefined) return <span class="quiet-text">{t('no cause found')}</span>
  const explains =
    cause.explains_ns === undefined ? '' : t(', explains {explains}', { explains: duration(cause.explains_ns) })
  const excess =
    cause.excess_ns === undefined ? '' : t(' of {excess} over the median', { excess: duration(cause.excess_ns) })
  return (
    <span>
      <b>{cause.suspect === undefined ? visible(cause.feature) : <SuspectLink suspect={cause.suspect} />}</b> (
      {word(cause.topic)}
      {explains}
      {excess})
    </span>
  )
}

export function Suspects({ suspects }: { suspects: readonly Suspect[] }): VNode {
  if (suspects.length === 0) return <></>
  return (
    <ul class="suspects">
      {suspects.map((suspect) => (
        <li key={suspectText(suspect) + (suspect.function ?? '')}>
          <b>
            <SuspectLink suspect={suspect} />
          </b>
          {suspect.tasks !== undefined && t(': {tasks} tasks', { tasks: suspect.tasks })}
          {suspect.explains_ns !== undefined &&
            t(' slower by {explains} in all', { explains: duration(suspect.explains_ns) })}
          {suspect.function !== undefined && (
            <>
              {' '}
              {tx('in {function}', {
                function: (
                  <a href={linkTo('overview', '', { function: suspect.function, role: suspect.role })}>
                    {visible(suspect.function)}
                  </a>
                ),
              })}
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
