// An analysis and its values. A value is entered when its field is left, or with Enter, which runs the analysis too.

import type { VNode } from 'preact'
import type { FunctionsAnswer } from '../../api/answers.ts'
import type { Analysis, ShellParameter } from '../../api/shell.ts'
import type { AppsAnswer } from '../../api/spark.ts'
import { go, value, values } from '../../app/address.ts'
import { useQuestion } from '../../app/question.ts'
import { ROLES, Select } from '../../parts/bits.tsx'
import { t, tx } from '../../text/t.ts'
import { keyOf, withoutValues } from './fields.ts'

const TIMES = ['15m', '1h', '6h', '1d', '7d']
const DURATIONS = ['10ms', '100ms', '1s', '10s']
const SUGGESTED = '200'

/** Of each kind of name, what is there; asked for only where a field wants it. */
export type Names = Readonly<Record<string, readonly string[]>>

const unique = (names: readonly string[]): string[] => [...new Set(names)]

export function useNames(analysis: Analysis | undefined): Names {
  const wants = (of: string): boolean => analysis?.parameters.some((parameter) => parameter.of === of) === true
  const apps = useQuestion<AppsAnswer>('apps', wants('app') ? { limit: '50' } : null)
  const named = { limit: SUGGESTED, sort: 'calls' }
  const functions = useQuestion<FunctionsAnswer>('functions', wants('function') ? named : null)
  const hosts = useQuestion<FunctionsAnswer>('functions', wants('host') ? { ...named, by: 'host' } : null)
  return {
    time: TIMES,
    duration: DURATIONS,
    role: ROLES,
    app: ['latest', ...(apps.data?.apps ?? []).map((app) => app.app)],
    function: unique((functions.data?.functions ?? []).map((row) => row.function)),
    host: unique((hosts.data?.functions ?? []).map((row) => row.host ?? '')).filter((host) => host !== ''),
  }
}

function Flag({ parameter }: { parameter: ShellParameter }): VNode {
  const key = keyOf(parameter)
  return (
    <label class="flag">
      <input
        type="checkbox"
        checked={value(key) === 'true'}
        onChange={(event) => go({ [key]: event.currentTarget.checked ? 'true' : undefined })}
      />
      {parameter.name}
    </label>
  )
}

function Several({ parameter }: { parameter: ShellParameter }): VNode {
  const key = keyOf(parameter)
  const lines = (text: string): string[] => text.split('\n').map((line) => line.trim())
  return (
    <label>
      <span class="label">{tx('{name} (one a line)', { name: parameter.name })}</span>
      <textarea
        rows={2}
        spellcheck={false}
        value={values(key).join('\n')}
        onChange={(event) => go({ [key]: lines(event.currentTarget.value).filter((line) => line !== '') })}
      />
    </label>
  )
}

const HINTS: Readonly<Record<string, string>> = {
  time: '1h, 3d, 2026-11-21T10:00:00Z',
  duration: '100ms',
  app: 'latest',
}

function Text({ parameter, names }: { parameter: ShellParameter; names: Names }): VNode {
  const key = keyOf(parameter)
  const known = names[parameter.of ?? ''] ?? []
  const list = `names-${parameter.name}`
  return (
    <>
      <label>
        <span class="label">
          {parameter.name}
          {parameter.required && ' *'}
        </span>
        <input
          type="text"
          spellcheck={false}
          autocomplete="off"
          required={parameter.required}
          inputMode={parameter.kind === 'number' ? 'numeric' : 'text'}
          {...(parameter.kind === 'number' ? { pattern: '[0-9]+', title: t('a whole number') } : {})}
          {...(known.length > 0 ? { list } : {})}
          placeholder={HINTS[parameter.of ?? ''] ?? ''}
          value={value(key) ?? ''}
          onChange={(event) => go({ [key]: event.currentTarget.value.trim() })}
        />
      </label>
      {known.length > 0 && (
        <datalist id={list}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  )
}

function OneOf({ parameter }: { parameter: ShellParameter }): VNode {
  const key = keyOf(parameter)
  return (
    <Select
      label={parameter.name}
      value={value(key) ?? ''}
      options={[['', t('as usual')], ...(parameter.choices ?? []).map((choice) => [choice, choice] as const)]}
      choose={(choice) => go({ [key]: choice })}
    />
  )
}

function FieldOf(props: { parameter: ShellParameter; names: Names }): VNode {
  switch (props.parameter.kind) {
    case 'flag':
      return <Flag {...props} />
    case 'choice':
      return <OneOf {...props} />
    case 'list':
      return <Several {...props} />
    default:
      return <Text {...props} />
  }
}

export function Form(props: {
  analyses: readonly Analysis[]
  analysis: Analysis
  names: Names
  running: boolean
  run: () => void
}): VNode {
  const { analysis, names } = props
  const first = analysis.parameters.filter((parameter) => parameter.argument)
  const others = analysis.parameters.filter((parameter) => !parameter.argument && parameter.kind !== 'flag')
  const flags = analysis.parameters.filter((parameter) => parameter.kind === 'flag')
  return (
    <form
      class="shell-form"
      aria-label={t('Analysis')}
      onSubmit={(event) => {
        event.preventDefault()
        props.run()
      }}
    >
      <Select
        label={t('analysis')}
        value={analysis.analysis}
        options={props.analyses.map((one) => [one.analysis, `${one.analysis}: ${one.title}`])}
        choose={(name) => go(withoutValues(analysis, { do: name }))}
      />
      {[...first, ...others].map((parameter) => (
        <FieldOf key={`${analysis.analysis} ${parameter.name}`} parameter={parameter} names={names} />
      ))}
      {flags.length > 0 && (
        <div class="flags">
          {flags.map((parameter) => (
            <FieldOf key={parameter.name} parameter={parameter} names={names} />
          ))}
        </div>
      )}
      <button type="submit" class="strong" disabled={props.running}>
        {props.running ? t('Runs …') : t('Run')}
      </button>
    </form>
  )
}
