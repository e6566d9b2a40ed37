import { describe, expect, it } from 'vitest'
import { plumbCommand } from './command.ts'
import { axisTime, dayTime, roundStep, ticks, utcTime } from './times.ts'
import { visible } from './visible.ts'

describe('times', () => {
  it('are written as plumb writes them', () => {
    expect(utcTime(1605952800123456789n)).toBe('2020-11-21T10:00:00.123Z')
    expect(utcTime(1605952800123456789n, 6)).toBe('2020-11-21T10:00:00.123456Z')
    expect(utcTime(-1n)).toBe('1969-12-31T23:59:59.999Z')
    expect(utcTime(9223372036854775807n, 0)).toBe('2262-04-11T23:47:16Z')
    expect(dayTime(1605952800123456789n, 'utc', 9)).toBe('2020-11-21 10:00:00.123456789')
  })
  it('have round ticks', () => {
    expect(roundStep(3600e9, 6)).toBe(600e9)
    const { step, at } = ticks(1605952800123456789n, 1605956400123456789n, 6)
    expect(at.map((ns) => axisTime(ns, 'utc', step))).toEqual(['10:10', '10:20', '10:30', '10:40', '10:50', '11:00'])
  })
})

describe('names', () => {
  it('show what cannot be seen', () => {
    expect(visible('a\u001b[31m\u202eb\u0000')).toBe('a\\x1b[31m\\u202eb\\x00')
    expect(visible('<b>größe</b> 漢字')).toBe('<b>größe</b> 漢字')
  })
})

describe('commands', () => {
  it('quote for a shell', () => {
    expect(plumbCommand('functions', { since: '1h', function: "it's $(x)", sort: 'total_ns', host: undefined })).toBe(
      `plumb functions --since 1h --function 'it'\\''s $(x)' --sort total`,
    )
    expect(plumbCommand('forest', { exclude: ['a#b', 'c'] })).toBe('plumb forest --exclude a#b --exclude c')
    expect(plumbCommand('trace', { id: '0123456789abcdef' })).toBe('plumb trace 0123456789abcdef')
    expect(plumbCommand('traces', { sort: 'begin_time_ns', incomplete: 'true' })).toBe(
      'plumb traces --sort begin --incomplete',
    )
    expect(plumbCommand('diff', { a: '2h..1h', b: '1h..', sort: 'mean_change_ns' })).toBe(
      'plumb diff 2h..1h 1h.. --sort mean',
    )
    expect(plumbCommand('nodes', { host: 'dn7', limit: '20' })).toBe('plumb nodes dn7 --limit 20')
    expect(plumbCommand('forest', { host: 'dn7' })).toBe('plumb forest --host dn7')
    expect(plumbCommand('series', { since: '1h', function: 'a#b', by: 'host', field: 'rate.mean_bytes_per_s' })).toBe(
      'plumb series --since 1h a#b --by host --field rate',
    )
    expect(plumbCommand('functions', { sort: 'bytes.total_bytes' })).toBe('plumb functions --sort bytes')
    expect(plumbCommand('samples', { host: 'dn7', since: '1h' })).toBe('plumb samples dn7 --since 1h')
    expect(plumbCommand('senders', {})).toBe('plumb status --senders')
    expect(plumbCommand('trace/find', { id: '0123456789abcdef', text: 'a b' })).toBe(
      "plumb find 0123456789abcdef 'a b'",
    )
  })

  it('take no name for an option', () => {
    const name = '--server=http://evil/'
    expect(plumbCommand('series', { function: name, by: 'host' })).toBe(`plumb series --by host -- ${name}`)
    expect(plumbCommand('diff', { a: '1h', b: '-x', sort: 'mean_change_ns' })).toBe('plumb diff --sort mean -- 1h -x')
    expect(plumbCommand('functions', { function: name })).toBe(`plumb functions --function=${name}`)
    expect(plumbCommand('functions', { function: "-it's" })).toBe(`plumb functions '--function=-it'\\''s'`)
  })
})
