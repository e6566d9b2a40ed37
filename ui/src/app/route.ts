// The address holds all state, behind the '#': gateways need no rules, and paths of files stay out of their logs.
// #/view/id?v=1&key=value. What the page writes is read by every later version: "v" says how it was written.

export const VERSION = '1'

export interface Route {
  readonly view: string
  readonly id: string
  /** In the order of the address. */
  readonly values: Readonly<Record<string, readonly string[]>>
}

export function parseRoute(hash: string, otherwise: string): Route {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''), '?')
  const [view = '', id = ''] = split(path, '/')
  const values: Record<string, string[]> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== 'v' && value !== '') (values[name] ??= []).push(value)
  }
  return { view: decode(view) || otherwise, id: decode(id), values }
}

export function formatRoute(route: Route): string {
  const query = new URLSearchParams({ v: VERSION })
  for (const [name, values] of Object.entries(route.values)) {
    for (const value of values) if (value !== '') query.append(name, value)
  }
  const path = [route.view, route.id].filter((part) => part !== '').map(encodeURIComponent)
  return `#/${path.join('/')}?${query.toString()}`
}

/** What changes nothing of a list. */
const BESIDE_LIST: readonly string[] = ['tick', 'area', 'table']

/** undefined takes a value away. The place in a list, 'after', is of that list only: it goes when the list changes. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>

export function changeRoute(route: Route, changes: Changes): Route {
  const values: Record<string, readonly string[]> = { ...route.values }
  if (!Object.keys(changes).every((name) => BESIDE_LIST.includes(name))) delete values['after']
  for (const [name, value] of Object.entries(changes)) {
    const list = value === undefined || value === '' ? [] : typeof value === 'string' ? [value] : value
    if (list.length > 0) values[name] = list
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
    else delete values[name]
  }
  return { ...route, values }
}

function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
