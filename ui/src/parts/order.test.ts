import { expect, it } from 'vitest'
import { inOrderOf } from './order.ts'

const self = (row: string): string => row

it('keeps rows where they were, and what is new behind them', () => {
  expect(inOrderOf(['a', 'b', 'c'], ['c', 'x', 'b', 'a', 'y'], self)).toEqual(['a', 'b', 'c', 'x', 'y'])
})

it('leaves out what is gone, and keeps all of what comes first', () => {
  expect(inOrderOf(['a', 'b', 'c'], ['c', 'a'], self)).toEqual(['a', 'c'])
  expect(inOrderOf([], ['b', 'a'], self)).toEqual(['b', 'a'])
})
