import { expect, it } from 'vitest'
import { placeOfName, placeOfText, type Known } from './place.ts'

const known: Known = {
  hosts: ['dn01.example', 'dn02.example'],
  functions: ['BlockReceiver#flushOrSync'],
  apps: [{ app: 'app-2', name: 'nightly report' }, { app: 'app-1', name: 'nightly report' }, { app: 'spark-abc' }],
}
const none: Known = { hosts: [], functions: [], apps: known.apps }

it('knows ids and paths by how they look', () => {
  expect(placeOfText('00000000000000AB')).toEqual({ view: 'trace', id: '00000000000000ab', values: {} })
  expect(placeOfText('app-20260101120000-0001')?.view).toBe('app')
  expect(placeOfText('application_1767225600000_0001')?.view).toBe('app')
  expect(placeOfText('local-1767225600000')?.view).toBe('app')
  for (const host of ['app-01', 'local-3', 'application_7']) expect(placeOfText(host)).toBeUndefined()
  expect(placeOfText('hdfs://nn:8020/user/anna')?.values).toEqual({ path: '/user/anna' })
  expect(placeOfText('dn01.example')).toBeUndefined()
})

it('leads from a whole name to what has it', () => {
  expect(placeOfName('DN02.example', known)).toEqual({ view: 'hosts', id: 'dn02.example', values: {} })
  expect(placeOfName('nightly report', known).id).toBe('app-2')
  expect(placeOfName('app-01', { ...known, hosts: ['app-01', 'app-011'] }).view).toBe('hosts')
  expect(placeOfName('app-1', known)).toEqual({ view: 'app', id: 'app-1', values: {} })
  expect(placeOfName('spark-ABC', known)).toEqual({ view: 'app', id: 'spark-abc', values: {} })
})

it('leads from a part of a name to what it can mean', () => {
  expect(placeOfName('flush', known)).toEqual({ view: 'functions', id: '', values: { find: 'flush' } })
  expect(placeOfName('dn0', { ...known, functions: [] }).values).toEqual({ find: 'dn0', by: 'host' })
  expect(placeOfName('dn01', { hosts: ['dn01.example'], functions: [], apps: [] }).id).toBe('dn01.example')
  expect(placeOfName('nightly', none).id).toBe('app-2')
  expect(placeOfName('nothing', none)).toEqual({ view: 'functions', id: '', values: { find: 'nothing' } })
})
