import { expect, it } from 'vitest'
import { changeRoute, formatRoute, parseRoute, type Changes } from './route.ts'

it('is the same after a round trip', () => {
  const route = {
    view: 'traces',
    id: 'a/b c',
    values: { function: ['Op#x & "y"=1'], annotation: ['path=/a?b#c', 'src=%41'], since: ['1h'] },
  }
  expect(parseRoute(formatRoute(route), 'overview')).toEqual(route)
})

it('stands damaged addresses', () => {
  expect(parseRoute('', 'overview')).toEqual({ view: 'overview', id: '', values: {} })
  expect(parseRoute('#/trace/%zz?since', 'overview')).toEqual({ view: 'trace', id: '%zz', values: {} })
  expect(parseRoute('#functions?v=1&sort=calls', 'overview').values).toEqual({ sort: ['calls'] })
})

it('changes and takes away', () => {
  const route = parseRoute('#/functions?v=1&host=a&role=b', 'overview')
  expect(changeRoute(route, { host: undefined, sort: 'calls', role: '' }).values).toEqual({ sort: ['calls'] })
  expect(route.values).toEqual({ host: ['a'], role: ['b'] })
})

it('keeps its place in a list for that list only', () => {
  const route = parseRoute('#/traces?v=1&after=b.9.9.0000000000000001&host=a&limit=20', 'overview')
  const placeAfter = (changes: Changes): readonly string[] | undefined => changeRoute(route, changes).values['after']
  for (const name of ['host', 'function', 'sort', 'since', 'until', 'limit', 'incomplete']) {
    expect(placeAfter({ [name]: 'other' })).toBeUndefined()
    expect(placeAfter({ [name]: undefined })).toBeUndefined()
  }
  expect(placeAfter({ after: 'b.8.8.0000000000000002' })).toEqual(['b.8.8.0000000000000002'])
  expect(placeAfter({ sort: 'spans', after: undefined })).toBeUndefined()
  expect(placeAfter({ tick: ['1', '2'] })).toEqual(route.values['after'])
  expect(placeAfter({ area: undefined })).toEqual(route.values['after'])
})
