import { expect, it } from 'vitest'
import { endOf, layTasks, runsOf, taskAt, taskIn, type TaskTimes } from './task-lanes.ts'

let seed = 7
const chance = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647

function made(rows: number, executors: number): TaskTimes {
  const begin = Array.from({ length: rows }, () => Math.floor(chance() * 1e9))
  const duration = begin.map(() => (chance() < 0.02 ? -1 : Math.floor(chance() ** 4 * 1e8)))
  return { begin, duration, executor: begin.map(() => Math.floor(chance() * executors)), rows }
}

it('lays each task once, and none over another', () => {
  const times = made(5000, 7)
  const laid = layTasks(times, [6, 5, 4, 3, 2, 1, 0])
  const drawn = laid.lanes.flatMap((lane) => lane.tasks)
  expect(new Set(drawn).size).toBe(drawn.length)
  expect(drawn.length).toBe(times.duration instanceof Array ? times.duration.filter((ns) => ns >= 0).length : -1)
  for (const lane of laid.lanes)
    lane.tasks.forEach((row, i) => {
      expect(times.executor[row]).toBe(lane.executor)
      if (i > 0) expect(endOf(times, lane.tasks[i - 1]!)).toBeLessThanOrEqual(times.begin[row]!)
    })
  expect(laid.lanes[0]!.executor).toBe(6)
})

it('loses nothing of a pixel, and has the colour of the longest', () => {
  const times = made(20000, 3)
  const least = 1e6
  for (const lane of layTasks(times, [0, 1, 2]).lanes) {
    const runs = runsOf(times, lane, least, (row) => row)
    const wide = lane.tasks.filter((row) => times.duration[row]! >= least)
    expect(runs.length).toBeLessThanOrEqual(wide.length * 2 + 1001)
    let i = 0
    for (const row of lane.tasks) {
      while (runs[i]!.end < endOf(times, row)) i++
      const run = runs[i]!
      expect(run.begin).toBeLessThanOrEqual(times.begin[row]!)
      expect(times.duration[row]).toBeLessThanOrEqual(times.duration[run.level]!)
      expect(run.end - run.begin).toBeLessThanOrEqual(Math.max(2 * least, times.duration[run.level]!))
    }
  }
})

it('finds the task at a time, or the nearest', () => {
  const times: TaskTimes = { begin: [0, 100, 300], duration: [50, 100, 50], executor: [0, 0, 0], rows: 3 }
  const lane = layTasks(times, [0]).lanes[0]!
  expect([0, 49, 60, 90, 150, 210, 290, 999].map((at) => taskAt(times, lane, at))).toEqual([0, 0, 0, 1, 1, 1, 2, 2])
  expect(taskAt(times, { executor: 0, tasks: [] }, 5)).toBeUndefined()
})

it('draws 10,000 lanes no higher than browsers can', () => {
  const [executors, slots] = [2500, 4]
  const lanes = executors * slots
  const row = Array.from({ length: 10 * lanes }, (_, i) => i)
  const times: TaskTimes = {
    begin: row.map((i) => Math.floor(i / lanes) * 1000),
    duration: row.map((i) => 1000 - (i % slots) * 100),
    executor: row.map((i) => Math.floor((i % lanes) / slots)),
    rows: row.length,
  }
  const order = Array.from({ length: executors }, (_, i) => i)
  const laid = layTasks(times, order)
  expect(laid.lanes.length).toBe(lanes)
  expect(laid.rows.length * laid.rowHeight).toBeLessThanOrEqual(4000)
  expect(laid.rowHeight).toBe(2)
  expect(new Set(laid.rows.flatMap((one) => one.tasks)).size).toBe(times.rows)
  laid.rows.forEach((one, i) => {
    expect(laid.lanes[i * laid.lanesOfRow]!.executor).toBe(one.executor)
    const runs = runsOf(times, one, 3000, (task) => times.duration[task]!)
    expect(runs[0]!.end).toBe(
      Math.max(...one.tasks.filter((task) => times.begin[task]! < 3000).map((task) => endOf(times, task))),
    )
    expect(runs[0]!.level).toBe(1000)
  })
  const few = layTasks(times, [0, 1])
  expect(few.rows).toEqual(few.lanes)
})

it('finds the longest task of a row', () => {
  const times: TaskTimes = { begin: [0, 10, 500], duration: [300, 50, 50], executor: [0, 0, 0], rows: 3 }
  const lanes = [[0], [1, 2]].map((tasks) => ({ executor: 0, tasks }))
  expect([20, 200, 390, 420, 510].map((at) => taskIn(times, lanes, at))).toEqual([0, 0, 0, 2, 2])
  expect(taskIn(times, [], 20)).toBeUndefined()
})
