import { expect, it } from 'vitest'
import { changeRoute, formatRoute, parseRoute } from './route.ts'

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
