// Questions to plumbd. Addresses are relative to the page, so that it works behind a gateway's prefix.

import { parseExact } from './json.ts'

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

export function questionPath(question: string, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    for (const one of typeof value === 'string' ? [value] : value) query.append(name, one)
  }
  const text = query.toString()
  return `api/v1/${question}${text === '' ? '' : `?${text}`}`
}

/** plumbd answered, and said why not. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message)
  }
}

/** There was no answer: plumbd is away, or the way to it is. */
export class Gone extends Error {}

export async function reasonOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const document = JSON.parse(text) as { error?: unknown }
    if (typeof document.error === 'string') return document.error
  } catch {
    // A gateway's own page, for example.
  }
  return `the answer was ${response.status} ${response.statusText}`
}

/** The answer, when it is one. */
async function fetchAnswer(path: string, signal: AbortSignal): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, { signal, cache: 'no-store' })
  } catch (error) {
    if (signal.aborted) throw error
    throw new Gone('plumbd does not answer')
  }
  if (response.status === 502 || response.status === 504) throw new Gone('the gateway does not reach plumbd')
  if (!response.ok) throw new Refused(await reasonOf(response), response.status)
  return response
}

/** take: throws when the answer is not there whole. */
export async function askWhole<Answer>(
  path: string,
  signal: AbortSignal,
  take: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const response = await fetchAnswer(path, signal)
  try {
    return await take(response)
  } catch (error) {
    if (signal.aborted) throw error
    throw new Gone('the answer was cut off')
  }
}

export const ask = (path: string, signal: AbortSignal): Promise<unknown> =>
  askWhole(path, signal, async (response) => parseExact(await response.text()))
