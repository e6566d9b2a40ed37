// Analyses that plumbd runs: what there is, begin, stop.

import { parseExact } from './json.ts'
import { Gone, Refused, reasonOf } from './ask.ts'

export interface ShellParameter {
  readonly name: string
  readonly kind: 'flag' | 'number' | 'choice' | 'text' | 'list'
  readonly choices?: readonly string[]
  /** What a text names: "app", "host", "function", "time", ... */
  readonly of?: string
  /** It has no name on the command line. */
  readonly argument: boolean
  readonly required: boolean
}

export interface Analysis {
  readonly analysis: string
  readonly title: string
  readonly parameters: readonly ShellParameter[]
}

export interface AnalysesAnswer {
  readonly enabled: boolean
  readonly why?: string
  readonly analyses: readonly Analysis[]
}

export type RunState = 'running' | 'done' | 'failed' | 'stopped' | 'cut'

export interface ShellRun {
  readonly id: string
  readonly analysis: string
  readonly command: string
  readonly by: string
  readonly state: RunState
  readonly begin_time_ns: bigint
  readonly end_time_ns?: bigint
  readonly lines: number
  readonly exit_code?: number
  readonly why?: string
}

export interface RunsAnswer {
  readonly runs: readonly ShellRun[]
}

async function post(path: string, document: unknown): Promise<ShellRun> {
  let response: Response
  try {
    response = await fetch(`api/v1/shell/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(document),
    })
  } catch {
    throw new Gone('plumbd does not answer')
  }
  if (!response.ok) throw new Refused(await reasonOf(response), response.status)
  return parseExact(await response.text()) as ShellRun
}

export type ParameterValue = boolean | number | string | readonly string[]

/** columns: how wide its lines are to be. */
export const beginRun = (
  analysis: string,
  parameters: Readonly<Record<string, ParameterValue>>,
  columns: number,
): Promise<ShellRun> => post('run', { analysis, parameters, columns })

export const stopRun = (id: string): Promise<ShellRun> => post('stop', { id })

export interface Followed {
  readonly line: (text: string) => void
  readonly end: (run: ShellRun) => void
  /** The connection broke, and is made again; or it is there again. */
  readonly away: (away: boolean) => void
  /** plumbd does not know the run. */
  readonly lost: () => void
}

/** Lines of a run as they come; the browser goes on by itself where a connection broke. Returns what ends it. */
export function follow(id: string, tell: Followed): () => void {
  const events = new EventSource(`api/v1/shell/output?id=${encodeURIComponent(id)}`)
  events.addEventListener('open', () => tell.away(false))
  events.addEventListener('line', (event: MessageEvent<string>) => tell.line(JSON.parse(event.data) as string))
  events.addEventListener('end', (event: MessageEvent<string>) => {
    events.close()
    tell.end(parseExact(event.data) as ShellRun)
  })
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) tell.lost()
    else tell.away(true)
  })
  return () => events.close()
}
