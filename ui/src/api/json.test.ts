import { expect, it } from 'vitest'
import { parseExact } from './json.ts'

it('keeps points in time exact', () => {
  expect(parseExact('{"begin_time_ns": 1605952800123456789, "since_time_ns":5, "calls": 12}')).toEqual({
    begin_time_ns: 1605952800123456789n,
    since_time_ns: 5n,
    calls: 12,
  })
})

it('leaves amounts numbers', () => {
  expect(parseExact('{"total_ns":92444000000000000,"process_time_ns":1234567890123456,"mean":1.5e3,"z":-1}')).toEqual({
    total_ns: 92444000000000000,
    process_time_ns: 1234567890123456,
    mean: 1500,
    z: -1,
  })
})

it('does not look into texts', () => {
  const text = '{"a":"x: 1605952800123456789, \\"1605952800123456789\\"","time_ns":1605952800123456789}'
  expect(parseExact(text)).toEqual({
    a: 'x: 1605952800123456789, "1605952800123456789"',
    time_ns: 1605952800123456789n,
  })
})

it('takes no part of a number for one', () => {
  const text =
    '[0.12345678901234567890, 1234567890123456789.5, 12345678901234567890e2, -1234567890123456, "12345678901234567"]'
  expect(parseExact(text)).toEqual(JSON.parse(text))
})

it('finds points in time in lists of objects', () => {
  expect(
    parseExact('{"at":[1,2,1605952800123456789],"list":[{"end_time_ns":7},null,[{"time_ns":1605952800123456789}]]}'),
  ).toEqual({
    at: [1, 2, 1605952800123456800],
    list: [{ end_time_ns: 7n }, null, [{ time_ns: 1605952800123456789n }]],
  })
})
