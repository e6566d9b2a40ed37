import { expect, it } from 'vitest'
import { clocksOf, isOff } from './clocks.ts'

const pair = (from: string, to: string, offset_ns: number) => ({
  from,
  to,
  offset_ns,
  uncertainty_ns: 100,
  samples: 5,
})

it('names the host whose clock differs, and not those that it is compared with', () => {
  const clocks = clocksOf([
    pair('a', 'b', 10),
    pair('a', 'c', 0),
    pair('b', 'c', -10),
    pair('a', 'd', -5000),
    pair('b', 'd', -5000),
    pair('c', 'd', -5000),
  ])
  expect([...clocks].filter(([, clock]) => isOff(clock)).map(([host]) => host)).toEqual(['d'])
  expect(clocks.get('d')).toEqual({ aheadNs: 5000, uncertaintyNs: 100, others: 3 })
})

it('says nothing of hosts that no call came from or went to', () => {
  expect(clocksOf([]).size).toBe(0)
})
