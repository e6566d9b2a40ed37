import { expect, it } from 'vitest'
import type { SeriesAnswer } from '../../api/answers.ts'
import { peerShare, slowHosts } from './slow.ts'

const host = (name: string, values: number[], at = values.map((_, i) => i)): SeriesAnswer['series'][number] => ({
  function: 'f',
  role: 'datanode',
  host: name,
  at,
  values,
  calls: values.map(() => 1),
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

it('needs peers, and calls', () => {
  expect(slowHosts(answer([host('a', [90, 90, 90, 90])], 2))).toEqual([])
  expect(slowHosts(answer([host('a', [30, 30, 30], [0, 3, 5])]))).toEqual([
    { host: 'a', since: 0, until: 5, ratio: 3, now: true },
  ])
})

it('colours by doublings', () => {
  expect([0.25, 0.5, 1, 2, 4, 64].map(peerShare)).toEqual([-1, -0.5, 0, 0.5, 1, 1])
})
