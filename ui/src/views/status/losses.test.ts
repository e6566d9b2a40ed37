import { expect, it } from 'vitest'
import type { ReceiverStatus } from '../../api/answers.ts'
import { lossesOf, spansLost } from './losses.ts'

const nothing = {
  refused: {},
  rejected_frames: {},
  refused_connections: {},
  rejected_http: {},
  senders: [],
  spans_set_aside: 0,
} as unknown as ReceiverStatus

it('counts spans that were refused, dropped by senders or set aside', () => {
  const senders = [{ drops: { full: 3 } }, { drops: { full: 2, closed: 1 } }] as unknown as ReceiverStatus['senders']
  const receiver = { ...nothing, refused: { malformed: 4 }, senders, spans_set_aside: 10 }
  expect(spansLost(receiver)).toBe(20)
  expect(lossesOf(receiver).map(({ reason, number }) => [reason, number])).toEqual([
    ['malformed', 4],
    ['full', 5],
    ['closed', 1],
    ['no store took them: look into the log', 10],
  ])
})

it('counts no frames, connections and requests as spans', () => {
  const receiver = { ...nothing, rejected_frames: { size: 4 }, rejected_http: { host: 2 } }
  expect(spansLost(receiver)).toBe(0)
  expect(lossesOf(receiver).length).toBe(2)
  expect(spansLost(nothing)).toBe(0)
})
