// The `plumb` command that asks the same question.

export function quoted(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

/** Ids of questions are positional in `plumb`. */
export function plumbCommand(question: string, parameters: Parameters): string {
  const words = ['plumb', question]
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) {
      if (name === 'id' || name === 'app') words.push(quoted(one))
      else words.push(`--${name.replaceAll('_', '-')}`, ...(one === 'true' ? [] : [quoted(optionValue(name, one))]))
    }
  }
  return words.join(' ')
}

/** `plumb` sorts by columns, whose names lack the unit. */
function optionValue(name: string, value: string): string {
  return name === 'sort' ? value.replace(/^bytes\.|^rate\./, '').replace(/_(time_ns|ns|bytes|per_s)$/, '') : value
}
