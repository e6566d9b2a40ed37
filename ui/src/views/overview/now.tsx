// Which hosts are slower than they usually are, whatever they do: beside the map, which is of one function.

import type { VNode } from 'preact'
import type { MapAnswer } from '../../api/series.ts'
import type { SlowAnswer, Spell } from '../../api/hosts.ts'
import { linkTo } from '../../app/address.ts'
import { spellText, whoOf } from '../../parts/spell.ts'
import { t, tx } from '../../text/t.ts'
import { duration } from '../../text/units.ts'
import { haveEnoughPeers } from './slow.ts'

export const suspected = (answer: SlowAnswer | undefined): Spell[] =>
  (answer?.slow ?? []).filter((spell) => spell.state === 'suspected')

const who = (spell: Spell): VNode | string =>
  spell.host === undefined ? whoOf(spell) : <a href={linkTo('hosts', spell.host)}>{whoOf(spell)}</a>

export function SlowSentence({ spell }: { spell: Spell }): VNode {
  return <>{tx('{host}: {what}.', { host: who(spell), what: spellText(spell) })}</>
}

export function NoneSlow({ answer, name }: { answer: MapAnswer; name: VNode }): VNode {
  return (
    <>
      {haveEnoughPeers(answer)
        ? tx('No host is at twice its peers for three steps in a row, in {name}.', { name })
        : tx('Fewer than three hosts have calls of {name} at a time: none can be compared with its peers.', { name })}
    </>
  )
}

export function SlowNow({ answer }: { answer: SlowAnswer | undefined }): VNode {
  const slow = suspected(answer)
  if (slow.length === 0) return <></>
  return (
    <section>
      <h2>{t('Slower than they usually are')}</h2>
      <ul class="suspects">
        {slow.map((spell) => (
          <li key={`${whoOf(spell)} ${spell.class}`}>
            <b>{who(spell)}</b>
            {': '}
            {tx('{what}; {waited} that somebody waited for.', {
              what: spellText(spell),
              waited: duration(spell.waited_ns),
            })}
          </li>
        ))}
      </ul>
      <p class="buttons">
        <a class="button" href={linkTo('hosts')}>
          {t('All hosts, and what helps')}
        </a>
      </p>
    </section>
  )
}
