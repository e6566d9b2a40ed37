// Times in which a host was slower than predicted: what, since when, what it cost, what can be done.

import type { VNode } from 'preact'
import type { Spell } from '../../api/hosts.ts'
import { linkTo } from '../../app/address.ts'
import { spellText, whoOf } from '../../parts/spell.ts'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** Before it began: to see the difference. */
const BEFORE_NS = 600_000_000_000n

const STATES: Readonly<Record<string, string>> = {
  suspected: t('suspected'),
  recovered: t('has recovered'),
  busier: t('has more to do than usual'),
  follows: t('follows from another'),
}

export function SpellCard({ spell, here }: { spell: Spell; here: boolean }): VNode {
  const until = spell.end_time_ns === undefined ? undefined : String(spell.end_time_ns)
  const period = { since: String(spell.begin_time_ns - BEFORE_NS), until }
  const during = { since: String(spell.begin_time_ns), until }
  return (
    <section class="card spell" aria-label={`${whoOf(spell)}: ${spell.layer}`}>
      <h3>
        {here || spell.host === undefined ? whoOf(spell) : <a href={linkTo('hosts', spell.host)}>{whoOf(spell)}</a>}:{' '}
        {spellText(spell)} <span class={`mark state-${spell.state}`}>{STATES[spell.state] ?? spell.state}</span>
      </h3>
      <p>
        {tx(
          '{waited} lost that somebody waited for, {lost} in all; {function} ({role}), {calls} calls in {badMinutes} {more}; {z} times what it usually varies by{more2}.',
          {
            waited: duration(spell.waited_ns),
            lost: duration(spell.lost_ns),
            function: (
              <a href={linkTo('overview', '', { function: spell.function, role: spell.role })}>
                {visible(spell.function)}
              </a>
            ),
            role: spell.role,
            calls: count(spell.calls),
            badMinutes: count(spell.bad_minutes),
            more: spell.bad_minutes === 1 ? t('minute') : t('minutes'),
            z: spell.z.toFixed(1),
            more2: spell.part_of !== undefined && t('; follows from {partOf}', { partOf: spell.part_of }),
          },
        )}
      </p>
      {(spell.advice ?? []).length > 0 && (
        <ul class="suspects">
          {spell.advice!.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p class="buttons">
        {spell.example !== undefined && (
          <a class="button" href={linkTo('trace', spell.example.trace)}>
            {t('A trace that shows it')}
          </a>
        )}
        <a
          class="button"
          href={linkTo('traces', '', {
            ...period,
            function: spell.function,
            role: spell.role,
            host: spell.host,
            sort: 'duration_ns',
          })}
        >
          {t('Its slowest traces')}
        </a>
        {spell.host !== undefined && (
          <a class="button" href={linkTo('diff', '', { ...during, host: spell.host })}>
            {t('What changed there')}
          </a>
        )}
      </p>
    </section>
  )
}
