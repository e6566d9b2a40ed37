// The `plumb` command that asks the same question.

export function quoted(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Questions that are called otherwise as commands. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  senders: ['status', '--senders'],
  'trace/find': ['find'],
}

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

/** What is positional in `plumb`: ids of questions, the host of those about hosts, the two sides of diff. */
const isPositional = (question: string, name: string): boolean =>
  name === 'id' ||
  name === 'app' ||
  (name === 'host' && ['nodes', 'hosts', 'samples'].includes(question)) ||
  (name === 'function' && ['series', 'distribution'].includes(question)) ||
  (question === 'trace/find' && name === 'text') ||
  (question === 'diff' && (name === 'a' || name === 'b'))

export function plumbCommand(question: string, parameters: Parameters): string {
  const words = ['plumb', ...(COMMANDS[question] ?? [question])]
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : (value ?? [])).map((one) => [name, one] as const),
  )
  // Names come from whoever sends spans. None must be taken for an option.
  const behind = given.some(([name, one]) => isPositional(question, name) && one.startsWith('-')) ? ['--'] : []
  for (const [name, one] of given) {
    if (!isPositional(question, name)) words.push(...option(name, one))
    else (behind.length > 0 ? behind : words).push(quoted(one))
  }
  return [...words, ...behind].join(' ')
}

function option(name: string, value: string): string[] {
  const word = `--${name.replaceAll('_', '-')}`
  if (value === 'true') return [word]
  return value.startsWith('-') ? [quoted(`${word}=${value}`)] : [word, quoted(optionValue(name, value))]
}

const DIFF_SORTS: Readonly<Record<string, string>> = {
  total_change_ns: 'total',
  mean_change_ns: 'mean',
  mean_change_percent: 'percent',
}

const BYTES_FIELDS: Readonly<Record<string, string>> = {
  'bytes.total_bytes': 'bytes',
  'bytes.zero_calls': 'empty',
  'bytes.small_calls': 'small',
  'rate.mean_bytes_per_s': 'rate',
}

/** `plumb` sorts by columns, whose names lack the unit. */
function optionValue(name: string, value: string): string {
  if (name !== 'sort' && name !== 'field') return value
  return DIFF_SORTS[value] ?? BYTES_FIELDS[value] ?? value.replace(/_(time_ns|ns)$/, '')
}
