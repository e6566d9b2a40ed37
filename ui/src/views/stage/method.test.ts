import { expect, it, vi } from 'vitest'
import type { Straggler, StragglersAnswer } from '../../api/spark.ts'
import { explainedBy } from './method.ts'

vi.mock('../../app/address.ts', () => ({ value: () => undefined }))

it('has a cause that has no topic, whether or not why has answered', () => {
  const row = { task: 1, causes: [{ feature: 'machine', verdict: 'cause' }], near: [] } as unknown as Straggler
  const found = { stragglers: [row] } as unknown as StragglersAnswer
  const cause = { feature: 'machine', topic: 'machine' }
  expect(explainedBy(undefined, found).get(1)?.main_cause).toEqual(cause)
  const why = { stragglers: [{ ...row, main_cause: { feature: 'cpu', topic: 'cpu' } }] }
  expect(explainedBy(why as never, found).get(1)?.main_cause).toEqual(cause)
})
