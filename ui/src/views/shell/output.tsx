// The lines of a run as they come.

import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { follow, stopRun, type ShellRun } from '../../api/shell.ts'
import { Copy } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** Lines that are drawn as one piece: those that are full are not drawn again. */
const PIECE_LINES = 200
const DRAW_EVERY_MS = 60

export interface Output {
  readonly id: string
  readonly pieces: readonly string[]
  readonly lines: number
  /** Once it has ended. */
  readonly run?: ShellRun
  readonly away: boolean
  readonly lost: boolean
}

const nothing = (id: string): Output => ({ id, pieces: [], lines: 0, away: false, lost: false })

function add(output: Output, fresh: readonly string[]): Output {
  const pieces = [...output.pieces]
  let lines = output.lines
  for (const line of fresh) {
    if (lines % PIECE_LINES === 0) pieces.push(line)
    else pieces.push(`${pieces.pop() ?? ''}\n${line}`)
    lines++
  }
  return { ...output, pieces, lines }
}

/** id: undefined for no run. */
export function useOutput(id: string | undefined): Output | undefined {
  const [output, setOutput] = useState<Output>(nothing(''))
  useEffect(() => {
    if (id === undefined) return
    setOutput(nothing(id))
    let fresh: string[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const draw = (more: Partial<Output> = {}): void => {
      clearTimeout(timer)
      timer = undefined
      const taken = fresh
      fresh = []
      setOutput((before) => ({ ...add(before, taken), ...more }))
    }
    const close = follow(id, {
      line: (text) => {
        fresh.push(visible(text))
        timer ??= setTimeout(draw, DRAW_EVERY_MS)
      },
      end: (run) => draw({ run, away: false }),
      away: (away) => draw({ away }),
      lost: () => draw({ lost: true, away: false }),
    })
    return () => {
      close()
      clearTimeout(timer)
    }
  }, [id])
  return id === undefined || output.id !== id ? undefined : output
}

const SAID: Readonly<Record<ShellRun['state'], string>> = {
  running: t('runs'),
  done: t('done'),
  failed: t('failed'),
  stopped: t('stopped'),
  cut: t('ended at a limit'),
}

export function StateOf({ state }: { state: ShellRun['state'] }): VNode {
  return <span class={`state-of run-${state}`}>{SAID[state]}</span>
}

export const tookOf = (run: ShellRun): string =>
  run.end_time_ns === undefined ? '' : duration(Number(run.end_time_ns - run.begin_time_ns))

function save(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

function Notices({ output }: { output: Output }): VNode {
  return (
    <>
      {output.away && (
        <p class="notice warn" role="alert">
          {t('The connection to plumbd broke: it is made again, and the lines go on where they were.')}
        </p>
      )}
      {output.lost && (
        <p class="notice bad" role="alert">
          {t('plumbd does not know this run any more: it keeps the last twenty, and none when it is started anew.')}
        </p>
      )}
      {output.run?.why !== undefined && <p class="notice warn">{visible(output.run.why)}</p>}
    </>
  )
}

function Stop({ id }: { id: string }): VNode {
  const [said, setSaid] = useState('')
  return (
    <>
      <button
        type="button"
        class="small"
        onClick={() => void stopRun(id).then(undefined, (error: unknown) => setSaid((error as Error).message))}
      >
        {t('Stop')}
      </button>
      {said !== '' && (
        <span class="bad-text" role="alert">
          {said}
        </span>
      )}
    </>
  )
}

/** known: what is known of the run beside its lines. */
export function Lines({ output, known }: { output: Output; known: ShellRun | undefined }): VNode {
  const box = useRef<HTMLDivElement>(null)
  const run = output.run ?? known
  const state = output.run?.state ?? (output.lost ? 'stopped' : 'running')
  useEffect(() => {
    // What comes is seen, unless its reader has gone up to read.
    const element = box.current
    if (element !== null && state === 'running' && element.scrollHeight - element.scrollTop < 3 * element.clientHeight)
      element.scrollTop = element.scrollHeight
  }, [output.lines, state])
  return (
    <section class="card open shell-output" aria-label={t('Output')}>
      <header>
        <h2>
          <code>{visible(run?.command ?? output.id)}</code>
        </h2>
        <StateOf state={state} />
        <span class="quiet-text">
          {tx('{lines} lines{more}', {
            lines: count(output.lines),
            more: output.run !== undefined && `, ${tookOf(output.run)}`,
          })}
        </span>
        {state === 'running' && <Stop id={output.id} />}
        {run !== undefined && <Copy text={run.command} label={t('copy the command')} />}
        {output.lines > 0 && (
          <button
            type="button"
            class="small quiet"
            onClick={() => save(`plumb-${run?.analysis ?? 'run'}.txt`, output.pieces.join('\n'))}
          >
            {t('save the lines')}
          </button>
        )}
      </header>
      <Notices output={output} />
      <div class="lines" ref={box} role="log" aria-label={t('Lines')} tabIndex={0}>
        {output.pieces.map((piece, i) => (
          <pre key={i}>{piece}</pre>
        ))}
        {output.lines === 0 && (
          <p class="quiet-text">{state === 'running' ? t('No line has come yet.') : t('It wrote no line.')}</p>
        )}
      </div>
    </section>
  )
}
