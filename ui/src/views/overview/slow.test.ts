import { expect, it } from 'vitest'
import type { SeriesAnswer } from '../../api/answers.ts'
import type { DiffRow } from '../../api/diff.ts'
import { haveEnoughPeers, peerShare, slowHosts, slowerRows } from './slow.ts'

const host = (name: string, values: number[], at = values.map((_, i) => i)): SeriesAnswer['series'][number] => ({
  function: 'f',
  role: 'datanode',
  host: name,
  at,
  values,
  calls: values.map(() => 8),
})
const answer = (series: SeriesAnswer['series'], hosts = 3): SeriesAnswer => ({
  field: 'mean_ns',
  series,
  peers: [
    {
      function: 'f',
      role: 'datanode',
      at: [0, 1, 2, 3, 4, 5],
      medians: [10, 10, 10, 10, 10, 10],
      hosts: Array(6).fill(hosts) as number[],
    },
  ],
})

it('finds who is slow, and since when', () => {
  const series = [
    host('a', [10, 10, 30, 40, 50, 60]),
    host('b', [30, 30, 30, 10, 10, 10]),
    host('c', [9, 25, 9, 25, 9, 25]),
  ]
  expect(slowHosts(answer(series))).toEqual([
    { host: 'a', since: 2, until: 5, ratio: 4.5, now: true },
    { host: 'b', since: 0, until: 2, ratio: 3, now: false },
  ])
})

it('compares three hosts or more', () => {
  const series = [host('a', [10, 10, 30, 40, 50, 60]), host('b', [10, 10, 10, 10, 10, 10])]
  expect([haveEnoughPeers(answer(series, 3)), haveEnoughPeers(answer(series, 2))]).toEqual([true, false])
  expect(slowHosts(answer(series, 2))).toEqual([])
})

it('needs peers, and calls', () => {
  expect(slowHosts(answer([host('a', [90, 90, 90, 90])], 2))).toEqual([])
  expect(slowHosts(answer([host('a', [30, 30, 30], [0, 3, 5])]))).toEqual([
    { host: 'a', since: 0, until: 5, ratio: 3, now: true },
  ])
})

it('takes a step of few calls for one without any', () => {
  const few = { ...host('a', [90, 30, 30, 30, 90]), calls: [7, 8, 9, 10, 7] }
  expect(slowHosts(answer([few]))).toEqual([{ host: 'a', since: 1, until: 3, ratio: 3, now: true }])
  expect(slowHosts(answer([{ ...few, calls: [7, 8, 7, 10, 7] }]))).toEqual([])
})

it('colours by doublings', () => {
  expect([0.25, 0.5, 1, 2, 4, 64].map(peerShare)).toEqual([-1, -0.5, 0, 0.5, 1, 1])
})

it('lists functions that are slower by what their calls cost more', () => {
  const row = (name: string, state: DiffRow['state'], change: number, calls: number, total: number): DiffRow => ({
    function: name,
    role: 'datanode',
    state,
    b: { calls, mean_ns: 1, std_ns: 0, total_ns: 1, self_ns: 1, critical_ns: 1, resolution_ns: 1 },
    mean_change_ns: change,
    total_change_ns: total,
  })
  const rows = [
    row('more calls', 'same', 0, 1000, 90),
    row('little', 'slower', 1, 10, 80),
    row('fewer calls', 'slower', 30, 10, -70),
  ]
  expect(slowerRows(rows).map((one) => one.function)).toEqual(['fewer calls', 'little'])
})
