// The `plumb` command that asks the same question.

export function quoted(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

/** What is positional in `plumb`: ids of questions, the host of those about hosts, the two sides of diff. */
const isPositional = (question: string, name: string): boolean =>
  name === 'id' ||
  name === 'app' ||
  (name === 'host' && ['nodes', 'hosts', 'samples'].includes(question)) ||
  (name === 'function' && ['series', 'distribution'].includes(question)) ||
  (question === 'diff' && (name === 'a' || name === 'b'))

export function plumbCommand(question: string, parameters: Parameters): string {
  const words = ['plumb', ...(question === 'senders' ? ['status', '--senders'] : [question])]
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) {
      if (isPositional(question, name)) words.push(quoted(one))
      else words.push(`--${name.replaceAll('_', '-')}`, ...(one === 'true' ? [] : [quoted(optionValue(name, one))]))
    }
  }
  return words.join(' ')
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
