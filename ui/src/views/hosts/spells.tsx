// Times in which a host was slower than predicted: what, since when, what it cost, what can be done.

import type { VNode } from 'preact'
import type { Spell } from '../../api/hosts.ts'
import { linkTo } from '../../app/address.ts'
import { zone, zoneName } from '../../app/choices.ts'
import { dayTime } from '../../text/times.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** Before it began: to see the difference. */
const BEFORE_NS = 600_000_000_000n

export const whoOf = (spell: Spell): string => (spell.all_hosts === true ? 'all hosts' : visible(spell.host ?? ''))

/** "disk is 6.2 times slower than usual, since 2026-11-21 14:47:00 UTC". */
export function spellText(spell: Spell): string {
  const ended = spell.end_time_ns
  const verb = ended === undefined ? 'is' : 'was'
  const till = ended === undefined ? '' : ` to ${dayTime(ended, zone.value)}`
  const what =
    spell.class === 'silent'
      ? spell.layer
      : `${spell.layer} ${verb} ${spell.slowdown.toFixed(1)} times slower than usual`
  return `${what}, ${
    ended === undefined ? 'since' : 'from'
  } ${dayTime(spell.begin_time_ns, zone.value)}${till} ${zoneName()}`
}

const STATES: Readonly<Record<string, string>> = {
  suspected: 'suspected',
  recovered: 'has recovered',
  busier: 'has more to do than usual',
  follows: 'follows from another',
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
        {duration(spell.waited_ns)} lost that somebody waited for, {duration(spell.lost_ns)} in all;{' '}
        <a href={linkTo('overview', '', { function: spell.function, role: spell.role })}>{visible(spell.function)}</a> (
        {spell.role}), {count(spell.calls)} calls in {count(spell.bad_minutes)}{' '}
        {spell.bad_minutes === 1 ? 'minute' : 'minutes'}; {spell.z.toFixed(1)} times what it usually varies by
        {spell.part_of !== undefined && `; follows from ${spell.part_of}`}.
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
            A trace that shows it
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
          Its slowest traces
        </a>
        {spell.host !== undefined && (
          <a class="button" href={linkTo('diff', '', { ...during, host: spell.host })}>
            What changed there
          </a>
        )}
      </p>
    </section>
  )
}
