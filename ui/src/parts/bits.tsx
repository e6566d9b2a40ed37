// Small pieces of many views.

import { Fragment, type ComponentChildren, type VNode } from 'preact'
import { go, linkTo, value } from '../app/address.ts'
import { t } from '../text/t.ts'
import { visible } from '../text/visible.ts'

export const ROLES = ['client', 'namenode', 'datanode', 'journalnode', 'local'] as const

/** Role as a colour and a letter: never the colour alone. */
export function Role({ role }: { role: string }): VNode {
  return (
    <span class={`role role-${role}`} title={role}>
      <span aria-hidden="true">{role.slice(0, 1).toUpperCase()}</span>
      <span class="unseen">{role}</span>
    </span>
  )
}

export function Name({ text, role }: { text: string; role?: string }): VNode {
  return (
    <span class="name">
      {role !== undefined && <Role role={role} />}
      <bdi>{visible(text)}</bdi>
    </span>
  )
}

/** To a host. Its name breaks at its dots where there is little room. */
export function HostLink({ host }: { host: string | undefined }): VNode {
  if (host === undefined) return <>-</>
  return (
    <a href={linkTo('hosts', host)}>
      {visible(host)
        .split(/(?<=\.)/)
        .map((part, i) => (
          <Fragment key={i}>
            {i > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </a>
  )
}

/** The name of a function, that leads to its hosts over time. */
export function FunctionLink(props: { of: { function: string; role: string } }): VNode {
  const { function: text, role } = props.of
  return (
    <a class="plain" href={linkTo('overview', '', { function: text, role })}>
      <Name text={text} role={role} />
    </a>
  )
}

/** The button that opens and closes what stands below it. */
export function Opener(props: { open: boolean; turn: () => void; children: ComponentChildren }): VNode {
  return (
    <button
      type="button"
      class={`plain opener ${props.open ? 'open' : ''}`}
      aria-expanded={props.open}
      onClick={props.turn}
    >
      <span class="twist" aria-hidden="true" />
      {props.children}
    </button>
  )
}

/** One of several: in the address under 'name', the first being the default. */
export function Choice(props: { name: string; label: string; options: readonly (readonly [string, string])[] }): VNode {
  const now = value(props.name) ?? props.options[0]![0]
  return (
    <div class="choice" role="group" aria-label={props.label}>
      <span class="label">{props.label}</span>
      {props.options.map(([key, text], i) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === now}
          onClick={() => go({ [props.name]: i === 0 ? undefined : key })}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

/** Filters that hold, each with a way out. */
export function Chips({ names }: { names: readonly (readonly [string, string])[] }): VNode {
  const shown = names.filter(([name]) => value(name) !== undefined)
  if (shown.length === 0) return <></>
  return (
    <p class="chips">
      {shown.map(([name, label]) => (
        <span key={name} class="chip">
          {label} <b>{visible(value(name) ?? '')}</b>
          <button type="button" aria-label={t('without {label}', { label })} onClick={() => go({ [name]: undefined })}>
            ×
          </button>
        </span>
      ))}
    </p>
  )
}

/** One of many. */
export function Select(props: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  choose: (key: string) => void
}): VNode {
  return (
    <label>
      <span class="label">{props.label}</span>
      <select value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
        {props.options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Of functions: a row for each, or for each and host. */
export function ByHostChoice(): VNode {
  return (
    <Choice
      name="by"
      label={t('rows')}
      options={[
        ['', t('per function')],
        ['host', t('per host')],
      ]}
    />
  )
}

export const ROLE_OPTIONS = ROLES.map((role) => [role, role] as const)

export function RoleChoice(): VNode {
  return (
    <Select
      label={t('role')}
      value={value('role') ?? ''}
      options={[['', t('all')], ...ROLE_OPTIONS]}
      choose={(role) => go({ role })}
    />
  )
}

/** A field whose value goes to the address when it is entered. */
export function Field(props: { name: string; label: string; placeholder?: string; width?: number }): VNode {
  return (
    <label>
      <span class="label">{props.label}</span>
      <input
        type="text"
        spellcheck={false}
        value={value(props.name) ?? ''}
        placeholder={props.placeholder ?? ''}
        size={props.width ?? 14}
        onChange={(event) => go({ [props.name]: event.currentTarget.value.trim() })}
      />
    </label>
  )
}

export function Bar({ part, whole, children }: { part: number; whole: number; children: ComponentChildren }): VNode {
  const width = whole > 0 ? Math.min(100, (100 * part) / whole) : 0
  return (
    <span class="bar-cell">
      <span class="bar" style={{ width: `${width.toFixed(2)}%` }} aria-hidden="true" />
      <span>{children}</span>
    </span>
  )
}
