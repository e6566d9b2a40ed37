// A spell of slowness in words: who, what, since when.

import type { Spell } from '../api/hosts.ts'
import { zone, zoneName } from '../app/choices.ts'
import { t } from '../text/t.ts'
import { dayTime } from '../text/times.ts'
import { visible } from '../text/visible.ts'
import { word } from '../text/words.ts'

/** The host, all of them, or the link between two that is slow alone. */
export function whoOf(spell: Spell): string {
  if (spell.link !== undefined)
    return `${visible(spell.link.from)} ${spell.link.both_ways ? '↔' : '→'} ${visible(spell.link.to)}`
  return spell.all_hosts === true ? t('all hosts') : visible(spell.host ?? '')
}

/** "disk is 6.2 times slower than usual, since 2026-11-21 14:47:00 UTC". */
export function spellText(spell: Spell): string {
  const layer = word(spell.layer)
  const times = spell.slowdown.toFixed(1)
  const [begin, zoned] = [dayTime(spell.begin_time_ns, zone.value), zoneName()]
  if (spell.end_time_ns === undefined)
    return spell.class === 'silent'
      ? t('{layer}, since {begin} {zoned}', { layer, begin, zoned })
      : t('{layer} is {times} times slower than usual, since {begin} {zoned}', { layer, times, begin, zoned })
  const end = dayTime(spell.end_time_ns, zone.value)
  return spell.class === 'silent'
    ? t('{layer}, from {begin} to {end} {zoned}', { layer, begin, end, zoned })
    : t('{layer} was {times} times slower than usual, from {begin} to {end} {zoned}', {
        layer,
        times,
        begin,
        end,
        zoned,
      })
}
