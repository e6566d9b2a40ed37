import { expect, it } from 'vitest'
import { amountsOf, hasOf } from './amounts.ts'
import { levelOf, stageTasks, withCauses, type StageHead, type StageTasks } from './tasks.ts'

const MB = 1e6

function tasksOf(rows: readonly (readonly [duration: number, input: number, shuffle: number])[]): StageTasks {
  const head = { rows: rows.length, statuses: ['success'], causes: [''], executors: [] } as unknown as StageHead
  const columns: Record<string, Float64Array> = {
    task: Float64Array.from(rows, (_, i) => 10 + i),
    duration: Float64Array.from(rows, ([duration]) => duration),
    input: Float64Array.from(rows, ([, input]) => input),
    shuffle_read: Float64Array.from(rows, ([, , shuffle]) => shuffle),
  }
  return stageTasks({ head, buffer: new ArrayBuffer(0), column: (name) => columns[name] })
}

it('tells the slow tasks that had more to read from the others', () => {
  const tasks = tasksOf([
    [100, 1 * MB, -1],
    [100, 1 * MB, -1],
    [110, 1 * MB, -1],
    [400, 4 * MB, -1], // in proportion
    [400, 1 * MB, -1], // not
    [-1, 1 * MB, -1], // runs
    [100, -1, -1], // nothing is known of it
  ])
  const found = amountsOf(tasks, 'all')
  expect(found.rows).toHaveLength(5)
  expect(found.median).toBe(1 * MB)
  expect([found.slow, found.inProportion]).toEqual([2, 1])
  expect([hasOf(tasks, 'input'), hasOf(tasks, 'shuffle')]).toEqual([true, false])
})

it('has no slow task that took no time', () => {
  const tasks = tasksOf([
    [0, 1 * MB, -1],
    [0, 1 * MB, -1],
    [5, 1 * MB, -1],
  ])
  expect(amountsOf(tasks, 'all').slow).toBe(1)
})

it('adds up what was read of files and of shuffles', () => {
  const tasks = tasksOf([
    [100, 1 * MB, 2 * MB],
    [100, -1, 3 * MB],
  ])
  expect(amountsOf(tasks, 'all').rows.map((row) => amountsOf(tasks, 'all').amount(row))).toEqual([3 * MB, 3 * MB])
  expect(amountsOf(tasks, 'input').rows).toEqual([0])
  expect(amountsOf(tasks, 'shuffle').median).toBe(2.5 * MB)
})

it('takes causes that were found by another method', () => {
  const tasks = withCauses(
    tasksOf([
      [100, 1, 1],
      [400, 1, 1],
    ]),
    new Map([[11, 'cpu']]),
  )
  expect([0, 1].map((row) => tasks.head.causes[levelOf(tasks, 'cause')(row)])).toEqual(['', 'cpu'])
})
