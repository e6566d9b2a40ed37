// What is chosen, as the address has it: "do" is the analysis, "p.NAME" a parameter's value, "run" the run that is shown.

import type { Analysis, ParameterValue, ShellParameter } from '../../api/shell.ts'
import { value, values } from '../../app/address.ts'
import type { Changes } from '../../app/route.ts'
import { quoted } from '../../text/command.ts'

export const keyOf = (parameter: ShellParameter): string => `p.${parameter.name}`

/** Without the values of an analysis, and with those given. */
export function withoutValues(analysis: Analysis | undefined, changes: Changes): Changes {
  const none = (analysis?.parameters ?? []).map((parameter) => [keyOf(parameter), undefined] as const)
  return { ...Object.fromEntries(none), ...changes }
}

export type Chosen = readonly (readonly [ShellParameter, readonly string[]])[]

export function chosenOf(analysis: Analysis): Chosen {
  return analysis.parameters
    .map((parameter) => [parameter, values(keyOf(parameter))] as const)
    .filter(([, texts]) => texts.length > 0)
}

function valueOf(parameter: ShellParameter, texts: readonly string[]): ParameterValue {
  if (parameter.kind === 'flag') return texts[0] === 'true'
  if (parameter.kind === 'list') return texts
  const text = texts[0] ?? ''
  return parameter.kind === 'number' && /^\d{1,15}$/.test(text) ? Number(text) : text
}

export function parametersOf(chosen: Chosen): Record<string, ParameterValue> {
  return Object.fromEntries(chosen.map(([parameter, texts]) => [parameter.name, valueOf(parameter, texts)]))
}

/** As plumbd writes it: options, then arguments. */
export function commandOf(analysis: Analysis, chosen: Chosen): string {
  const given = chosen.filter(([parameter, texts]) => parameter.kind !== 'flag' || texts[0] === 'true')
  const options = given
    .filter(([parameter]) => !parameter.argument)
    .flatMap(([parameter, texts]) =>
      texts.map((text) => (parameter.kind === 'flag' ? `--${parameter.name}` : quoted(`--${parameter.name}=${text}`))),
    )
  const ending = given.filter(([parameter]) => parameter.argument).flatMap(([, texts]) => texts)
  const end = ending.some((text) => text.startsWith('-')) ? ['--'] : []
  return ['plumb', analysis.analysis, ...options, ...end, ...ending.map(quoted)].join(' ')
}

/** What is lacking, by its name. */
export const lackingOf = (analysis: Analysis): string | undefined =>
  analysis.parameters.find((parameter) => parameter.required && value(keyOf(parameter)) === undefined)?.name
