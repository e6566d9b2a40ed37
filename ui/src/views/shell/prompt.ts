// A line that is typed in plumb's syntax: read as one of the listed analyses with its values, or completed. No shell reads
// it: what would begin a command in one is an error here, and names, patterns and the like ($HOME, *) are themselves.

import type { Analysis, ShellParameter } from '../../api/shell.ts'
import { quoted } from '../../text/command.ts'
import { t } from '../../text/t.ts'
import { commandOf, type Chosen } from './fields.ts'
import { nearestName } from './nearest.ts'

interface Words {
  readonly words: readonly string[]
  /** Where the last one begins in the line: behind its end where that is a blank. */
  readonly lastAt: number
  readonly error?: string
}

const isBlank = (letter: string): boolean => /\s/.test(letter)
/** What a shell would take for its own. */
const OF_SHELLS = /^(?:[|&;<>`]|\$[({])/

/** By the quotes of a shell: '...', "..." and \ before a letter. */
export function wordsOf(line: string): Words {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  let lastAt = 0
  let error: string | undefined
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!
    if (quote === '' && isBlank(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    if (word === undefined) lastAt = at
    word ??= ''
    if (quote === '' && OF_SHELLS.test(line.slice(at, at + 2)))
      error ??= t("'{letter}' has no meaning here: this is no shell. In quotes it is itself", { letter })
    if (letter === quote) quote = ''
    else if (quote === '' && (letter === "'" || letter === '"')) quote = letter
    else if (letter === '\\' && quote !== "'" && at + 1 < line.length) word += line[++at]!
    else word += letter
  }
  if (word === undefined) lastAt = line.length
  if (quote !== '') error ??= t('the quote {quote} is not closed', { quote })
  return { words: [...words, word ?? ''], lastAt, ...(error === undefined ? {} : { error }) }
}

/** Without "plumb", which stands before the field. */
const withoutProgram = (words: readonly string[]): readonly string[] =>
  words[0] === 'plumb' && words.length > 1 ? words.slice(1) : words

export function analysisOfLine(line: string, analyses: readonly Analysis[]): Analysis | undefined {
  const [name] = withoutProgram(wordsOf(line).words)
  return analyses.find((one) => one.analysis === name)
}

/** What is wrong with a line, in plumb's words. */
class Wrong extends Error {}

function noCommand(name: string, analyses: readonly Analysis[]): Wrong {
  const nearest = nearestName(
    name,
    analyses.map((one) => one.analysis),
  )
  return new Wrong(
    nearest === undefined
      ? t("no command '{name}': the field below lists those that are run here", { name })
      : t("no command '{name}': did you mean '{nearest}'?", { name, nearest }),
  )
}

function unknownOption(name: string, options: readonly ShellParameter[], analysis: Analysis): Wrong {
  const nearest = nearestName(
    name,
    options.map((one) => one.name),
  )
  return new Wrong(
    nearest === undefined
      ? t("unknown option --{name}: the fields below are those of '{analysis}'", { name, analysis: analysis.analysis })
      : t('unknown option --{name}: did you mean --{nearest}?', { name, nearest }),
  )
}

function checked({ name, kind, choices = [] }: ShellParameter, value: string): string {
  if (kind === 'number' && !/^\d{1,10}$/.test(value))
    throw new Wrong(t('--{name}={value}: must be a whole number from 0 on', { name, value }))
  if (kind !== 'choice' || choices.includes(value)) return value
  const [nearest, all] = [nearestName(value, choices), choices.join(', ')]
  throw new Wrong(
    nearest === undefined
      ? t('--{name}={value}: must be one of {all}', { name, value, all })
      : t('--{name}={value}: did you mean {nearest}? ({all})', { name, value, nearest, all }),
  )
}

/** The values of an analysis as its words are read. */
class Values {
  private readonly values = new Map<ShellParameter, string[]>()
  private readonly options: readonly ShellParameter[]
  private readonly arguments: readonly ShellParameter[]
  private given = 0

  constructor(private readonly analysis: Analysis) {
    this.options = analysis.parameters.filter((one) => !one.argument)
    this.arguments = analysis.parameters.filter((one) => one.argument)
  }

  /** How many words the option is. */
  addOption(word: string, next: string | undefined): 1 | 2 {
    const [, name = '', value] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const option = this.options.find((one) => one.name === name)
    if (option === undefined) throw unknownOption(name, this.options, this.analysis)
    if (option.kind === 'flag') {
      if (value !== undefined) throw new Wrong(t('--{name} takes no value', { name }))
      this.values.set(option, ['true'])
      return 1
    }
    const given = value ?? next
    if (given === undefined) throw new Wrong(t('--{name} needs a value', { name }))
    const before = option.kind === 'list' ? (this.values.get(option) ?? []) : []
    this.values.set(option, [...before, checked(option, given)])
    return value === undefined ? 2 : 1
  }

  addArgument(word: string): void {
    const argument = this.arguments[this.given++]
    if (argument !== undefined) {
      this.values.set(argument, [word])
      return
    }
    const takes = this.arguments.map((one) => one.name.toUpperCase()).join(' ')
    throw new Wrong(
      takes === ''
        ? t("'{word}' is too much: the command takes options only", { word })
        : t("'{word}' is too much: the command takes {takes}", { word, takes }),
    )
  }

  /** In the order of the analysis. */
  get chosen(): Chosen {
    const lacking = this.analysis.parameters.find((one) => one.required && !this.values.has(one))
    if (lacking !== undefined) throw new Wrong(t('{lacking} is needed.', { lacking: lacking.name }))
    return this.analysis.parameters.flatMap((one) => {
      const values = this.values.get(one)
      return values === undefined ? [] : [[one, values] as const]
    })
  }
}

function valuesOf(analysis: Analysis, words: readonly string[]): Chosen {
  const values = new Values(analysis)
  let ended = false
  for (let at = 0; at < words.length;) {
    const word = words[at]!
    if (ended || !word.startsWith('-') || word === '-') {
      values.addArgument(word)
      at++
    } else if (word === '--') {
      ended = true
      at++
    } else at += values.addOption(word, words[at + 1])
  }
  return values.chosen
}

export type Read = { readonly analysis: Analysis; readonly chosen: Chosen } | { readonly error: string }

export function readLine(line: string, analyses: readonly Analysis[]): Read {
  const { words, error } = wordsOf(line.trim())
  if (error !== undefined) return { error }
  const [name = '', ...rest] = withoutProgram(words)
  try {
    const analysis = analyses.find((one) => one.analysis === name)
    if (analysis === undefined) throw noCommand(name, analyses)
    return { analysis, chosen: valuesOf(analysis, rest) }
  } catch (wrong) {
    return { error: (wrong as Wrong).message }
  }
}

/** For a shell: in quotes, so that each word means there what it means here. */
export function commandOfLine(line: string, analyses: readonly Analysis[]): string {
  const read = readLine(line, analyses)
  return 'error' in read ? `plumb ${line}` : commandOf(read.analysis, read.chosen)
}

/* ---- completion ---- */

const MOST_OFFERED = 12

export interface Offer {
  /** What stands in the list. */
  readonly text: string
  /** The line with it. */
  readonly line: string
}

/** Names of a kind that are stored, as of fields. */
type Names = Readonly<Record<string, readonly string[]>>

const knownValues = (parameter: ShellParameter, names: Names): readonly string[] =>
  parameter.choices ?? names[parameter.of ?? ''] ?? []

/** Those that begin so, then those that have it within. */
function fitting(all: readonly string[], typed: string): string[] {
  const [small, lower] = [typed.toLowerCase(), (one: string): string => one.toLowerCase()]
  const begin = all.filter((one) => lower(one).startsWith(small))
  return [...begin, ...all.filter((one) => lower(one).includes(small) && !begin.includes(one))]
}

/** The words that may stand where the last one is. */
function candidates(analysis: Analysis, before: readonly string[], last: string, names: Names): string[] {
  const options = analysis.parameters.filter((one) => !one.argument)
  const optionOf = (word: string | undefined): ShellParameter | undefined =>
    options.find((one) => word === `--${one.name}` && one.kind !== 'flag')
  const pending = optionOf(before.at(-1))
  if (pending !== undefined) return fitting(knownValues(pending, names), last)
  const [, name, typed = ''] = /^--([^=]+)=(.*)$/s.exec(last) ?? []
  const assigned = options.find((one) => one.name === name)
  if (assigned !== undefined) return fitting(knownValues(assigned, names), typed).map((one) => `--${name!}=${one}`)
  const given = before.filter((word, i) => !word.startsWith('-') && optionOf(before[i - 1]) === undefined).length
  const argument = analysis.parameters.filter((one) => one.argument)[given]
  // A list may be given again by who begins to type it: Tab alone does not go on for ever.
  const used = (one: ShellParameter): boolean =>
    (one.kind !== 'list' || last === '') &&
    before.some((word) => word === `--${one.name}` || word.startsWith(`--${one.name}=`))
  const words = options
    .filter((one) => !used(one))
    .map((one) => (one.kind === 'flag' ? `--${one.name}` : `--${one.name}=`))
  return [
    ...(argument === undefined || last.startsWith('-') ? [] : fitting(knownValues(argument, names), last)),
    ...words.filter((word) => word.startsWith(last)),
  ]
}

/** How the last word of a line may go on. */
export function offersOf(line: string, analyses: readonly Analysis[], names: Names): Offer[] {
  const { words, lastAt, error } = wordsOf(line)
  const [name = '', ...rest] = withoutProgram(words)
  if (error !== undefined) return []
  const analysis = rest.length === 0 ? undefined : analyses.find((one) => one.analysis === name)
  const commands = analyses.map((one) => one.analysis)
  if (rest.length > 0 && analysis === undefined) return []
  const [before, last] = [rest.slice(0, -1), rest.at(-1) ?? name]
  const all =
    analysis === undefined ? commands.filter((one) => one.startsWith(name)) : candidates(analysis, before, last, names)
  return all
    .filter((one) => one !== last)
    .slice(0, MOST_OFFERED)
    .map((one) => ({ text: one, line: `${line.slice(0, lastAt)}${quoted(one)}${one.endsWith('=') ? '' : ' '}` }))
}

/** What all offers have in common is longer than what is typed: the line with it. */
export function commonLine(line: string, offers: readonly Offer[]): string | undefined {
  const [first, ...others] = offers.map((offer) => offer.line)
  if (first === undefined) return undefined
  if (others.length === 0) return first
  let n = 0
  while (n < first.length && others.every((one) => one[n] === first[n])) n++
  const common = first.slice(0, n)
  return common.length > line.length && common.startsWith(line) ? common : undefined
}
