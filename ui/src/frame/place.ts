// Where what is typed into the search leads to. No DOM.

export interface Place {
  readonly view: string
  readonly id: string
  readonly values: Readonly<Record<string, string>>
}

export interface KnownApp {
  readonly app: string
  readonly name?: string
}

/** What is stored with the text in its name, what begins with it first. */
export interface Known {
  readonly hosts: readonly string[]
  readonly functions: readonly string[]
  /** The newest 200, the newest first. */
  readonly apps: readonly KnownApp[]
}

const at = (view: string, id = '', values: Place['values'] = {}): Place => ({ view, id, values })

/** What the text tells by itself. undefined: it is a name, or a part of one. */
export function placeOfText(text: string): Place | undefined {
  if (/^[0-9a-f]{16}$|^[0-9a-f]{32}$/i.test(text)) return at('trace', text.toLowerCase())
  if (/^(app-\d{14}-\d+|application_\d+_\d+|local-\d{13})/.test(text)) return at('app', text)
  if (text.startsWith('/') || text.includes('://'))
    return at('traces', '', { path: text.replace(/^\w+:\/\/[^/]*/, '') })
  return undefined
}

/** A whole name leads to what has it; a part of one to the functions with it, or to the only host or newest
    application that it can mean. */
export function placeOfName(text: string, { hosts, functions, apps }: Known): Place {
  const wanted = text.toLowerCase()
  const isIt = (name: string): boolean => name.toLowerCase() === wanted
  const host = hosts.find(isIt) ?? (functions.length === 0 && hosts.length === 1 ? hosts[0] : undefined)
  if (host !== undefined) return at('hosts', host)
  const app =
    apps.find((one) => isIt(one.app) || isIt(one.name ?? '')) ??
    (functions.length + hosts.length === 0
      ? apps.find((one) => `${one.app} ${one.name ?? ''}`.toLowerCase().includes(wanted))
      : undefined)
  if (app !== undefined) return at('app', app.app)
  if (functions.length === 0 && hosts.length > 1) return at('functions', '', { find: text, by: 'host' })
  return at('functions', '', { find: text })
}
