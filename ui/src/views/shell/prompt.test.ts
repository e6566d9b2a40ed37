import { describe, expect, it, vi } from 'vitest'
import type { Analysis, ShellParameter } from '../../api/shell.ts'
import { commandOf } from './fields.ts'
import { nearestName } from './nearest.ts'
import { commandOfLine, commonLine, offersOf, readLine, wordsOf } from './prompt.ts'

// The address is the browser's.
vi.mock('../../app/address.ts', () => ({}))

const option = (name: string, kind: ShellParameter['kind'], more: Partial<ShellParameter> = {}): ShellParameter => ({
  name,
  kind,
  argument: false,
  required: false,
  ...more,
})
const ANALYSES: readonly Analysis[] = [
  {
    analysis: 'functions',
    title: '',
    parameters: [
      option('since', 'text', { of: 'time' }),
      option('function', 'text', { of: 'function' }),
      option('exclude', 'list', { of: 'function' }),
      option('by', 'choice', { choices: ['host', 'minute', 'host,minute'] }),
      option('bytes', 'flag'),
      option('limit', 'number'),
    ],
  },
  {
    analysis: 'find',
    title: '',
    parameters: [
      option('id', 'text', { of: 'trace', argument: true, required: true }),
      option('text', 'text', { argument: true, required: true }),
      option('limit', 'number'),
    ],
  },
  { analysis: 'status', title: '', parameters: [option('senders', 'flag')] },
]
const NAMES = { time: ['15m', '1h'], function: ['BlockReceiver#flushOrSync', 'a name', 'OpWriteBlock#x'] }

function read(line: string): string {
  const done = readLine(line, ANALYSES)
  return 'error' in done ? done.error : commandOf(done.analysis, done.chosen)
}

describe('a line', () => {
  it('is split as a shell splits it', () => {
    expect(wordsOf(`find 'a b' "c 'd'" e\\ f`).words).toEqual(['find', 'a b', "c 'd'", 'e f'])
    expect(wordsOf('find ').words).toEqual(['find', ''])
    expect(wordsOf('find  ab').lastAt).toBe(6)
  })
  it('is one of the analyses, with its values', () => {
    expect(read('functions --by host')).toBe('plumb functions --by=host')
    expect(read('plumb functions --limit 5 --bytes --by=host,minute')).toBe(
      'plumb functions --by=host,minute --bytes --limit=5',
    )
    expect(read("functions --exclude a --exclude 'b c'")).toBe("plumb functions --exclude=a '--exclude=b c'")
    expect(read("find 0123456789abcdef 'two words' --limit=1")).toBe(
      "plumb find --limit=1 0123456789abcdef 'two words'",
    )
    expect(read('find -- -1 --text')).toBe('plumb find -- -1 --text')
    expect(read('  status  ')).toBe('plumb status')
  })
  it('is copied as a shell reads the same from it', () => {
    const copied = (line: string): string => commandOfLine(line, ANALYSES)
    expect(copied('find a "$(id) `id`"')).toBe("plumb find a '$(id) `id`'")
    expect(copied('plumb functions --function=$HOME --exclude ~ --exclude=*')).toBe(
      "plumb functions '--function=$HOME' '--exclude=~' '--exclude=*'",
    )
    expect(copied('functions --limit')).toBe('plumb functions --limit')
  })
  it.each([
    ['', "no command '': the field below lists those that are run here"],
    ['functons', "no command 'functons': did you mean 'functions'?"],
    ['export --output x', "no command 'export': the field below lists those that are run here"],
    ['functions --hots=x', "unknown option --hots: the fields below are those of 'functions'"],
    ['functions --functon=x', 'unknown option --functon: did you mean --function?'],
    ['functions --json', "unknown option --json: the fields below are those of 'functions'"],
    ['functions --by=hots', '--by=hots: did you mean host? (host, minute, host,minute)'],
    ['functions --by=week', '--by=week: must be one of host, minute, host,minute'],
    ['functions --limit=many', '--limit=many: must be a whole number from 0 on'],
    ['functions --limit', '--limit needs a value'],
    ['functions --bytes=1', '--bytes takes no value'],
    ['functions x', "'x' is too much: the command takes options only"],
    ['find a b c', "'c' is too much: the command takes ID TEXT"],
    ['find a', 'text is needed.'],
    ["find 'a", "the quote ' is not closed"],
    ['status; rm -r /', "';' has no meaning here: this is no shell. In quotes it is itself"],
    ['status | sort', "'|' has no meaning here: this is no shell. In quotes it is itself"],
    ['find $(id) x', "'$' has no meaning here: this is no shell. In quotes it is itself"],
  ])('is told what is wrong with it: %s', (line, error) => {
    expect(readLine(line, ANALYSES)).toEqual({ error })
  })
})

describe('completion', () => {
  const offered = (line: string): string[] => offersOf(line, ANALYSES, NAMES).map((offer) => offer.text)

  it('offers commands, options, and values', () => {
    expect(offered('f')).toEqual(['functions', 'find'])
    expect(offered('plumb st')).toEqual(['status'])
    expect(offered('functions --b')).toEqual(['--by=', '--bytes'])
    expect(offered('functions --by=m')).toEqual(['--by=minute', '--by=host,minute'])
    expect(offered('functions --by ')).toEqual(['host', 'minute', 'host,minute'])
    expect(offered('functions --function=flush')).toEqual(['--function=BlockReceiver#flushOrSync'])
    expect(offered('functions --by=host --b')).toEqual(['--bytes'])
    expect(offered('nothing --b')).toEqual([])
  })
  it('quotes what it takes', () => {
    expect(offersOf('functions --function=a', ANALYSES, NAMES)[0]!.line).toBe("functions '--function=a name' ")
    expect(offersOf('functions --b', ANALYSES, NAMES)[0]!.line).toBe('functions --by=')
  })
  it('goes on as far as all offers agree', () => {
    const common = (line: string): string | undefined => commonLine(line, offersOf(line, ANALYSES, NAMES))
    expect(common('functions --l')).toBe('functions --limit=')
    expect(common('functions --')).toBeUndefined()
    expect(common('stat')).toBe('status ')
  })
  it('does not give a list again by itself', () => {
    expect(offered('functions --since=1h --function=x --by=host --bytes --limit=1 --exclude=a ')).toEqual([])
    expect(offered('functions --since=1h --function=x --by=host --bytes --limit=1 --exclude=a --')).toEqual([
      '--exclude=',
    ])
  })
})

it('a name that is meant is found as plumb finds it', () => {
  const known = ['store.path', 'store.cache', 'listen.http', 'listen.thrift', 'ack']
  const cases = { 'store.paht': 'store.path', 'stroe.cache': 'store.cache', listen: 'listen.http', akc: 'ack' }
  for (const [name, nearest] of Object.entries(cases)) expect(nearestName(name, known)).toBe(nearest)
  for (const name of ['something.else', '', 'x']) expect(nearestName(name, known)).toBeUndefined()
})
