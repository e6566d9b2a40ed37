// The clocks of a trace's hosts: how far they are apart, and its calls at the times of one.

import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { linkTo, refine, value } from '../../app/address.ts'
import { useWaiting } from '../../app/question.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { t, tx } from '../../text/t.ts'
import { count, duration } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { ClockReader, clockOffsets, isReal, movedBy, type ClockOffset } from '../../timeline/clocks.ts'
import { askAligned, type Trace } from './model.ts'
import { nextTask } from './threads.ts'

/** Of more hosts clocks are not computed: it would hold the page up. */
const MOST_HOSTS = 2000
const ROWS = 100

export interface Clocks {
  readonly hosts: readonly string[]
  readonly hostOf: readonly number[]
  /** Against the host of the first call; the surest and greatest first. */
  readonly offsets: readonly ClockOffset[]
  readonly reference: number
}

const UNKNOWN: Clocks = { hosts: [], hostOf: [], offsets: [], reference: -1 }

/** Calls that are read at a time: between them the page can draw and hear keys. */
const PIECE = 50_000

async function clocksOf(trace: Trace, signal: AbortSignal): Promise<Clocks> {
  const { processes } = trace.head
  const hosts = [...new Set(processes.flatMap(({ host }) => (host === undefined ? [] : [host])))].sort()
  if (hosts.length > MOST_HOSTS) return UNKNOWN
  const numbers = new Map(hosts.map((host, number) => [host, number]))
  const hostOf = processes.map(({ host }) => (host === undefined ? -1 : numbers.get(host)!))
  const reference = trace.rows === 0 ? -1 : hostOf[trace.calls.process[0]!]!
  const reader = new ClockReader(trace.calls, trace.flags, hostOf)
  while (reader.read(PIECE) && !signal.aborted) await nextTask()
  const offsets = reference < 0 ? [] : clockOffsets(reader.pairs, reference)
  offsets.sort((a, b) => Number(isReal(b)) - Number(isReal(a)) || Math.abs(b.offset) - Math.abs(a.offset))
  return { hosts, hostOf, offsets, reference }
}

/** Was it asked for again, with no more to it? */
const isAsBefore = (before: Trace, now: Trace): boolean =>
  before.head.trace === now.head.trace &&
  before.head.first_part === now.head.first_part &&
  before.rows === now.rows &&
  before.head.processes.length === now.head.processes.length

/** Once the calls are drawn: of a million they take as long as some frames. Until then they are those of before. */
export function useClocks(trace: Trace): Clocks {
  const [known, setKnown] = useState<{ readonly of: Trace; readonly clocks: Clocks }>()
  useEffect(() => {
    const abort = new AbortController()
    void clocksOf(trace, abort.signal).then((clocks) => {
      if (!abort.signal.aborted) setKnown({ of: trace, clocks })
    })
    return () => abort.abort()
  }, [trace])
  useWaiting(known?.of !== trace)
  return known !== undefined && isAsBefore(known.of, trace) ? known.clocks : UNKNOWN
}

const areAligned = (): boolean => value('clocks') === 'aligned'

interface AlignedTrace {
  readonly trace: Trace
  readonly error?: string
}

/** Laid out in another thread: until it is done, what was there stays. */
export function useAligned(trace: Trace, clocks: Clocks): AlignedTrace {
  const aligned = useMemo(
    () => (areAligned() && clocks.offsets.some(isReal) ? movedBy(clocks.hostOf, clocks.offsets) : undefined),
    [trace, clocks, areAligned()],
  )
  const [laid, setLaid] = useState<AlignedTrace & { readonly of: typeof aligned }>()
  useEffect(() => {
    if (aligned === undefined) return
    const abort = new AbortController()
    askAligned(trace, aligned, abort.signal).then(
      (moved) => setLaid({ of: aligned, trace: moved }),
      (error: unknown) => {
        if (!abort.signal.aborted) setLaid({ of: aligned, trace, error: String(error) })
      },
    )
    return () => abort.abort()
  }, [aligned])
  useWaiting(aligned !== undefined && laid?.of !== aligned)
  if (aligned === undefined || laid === undefined) return { trace }
  return laid.of === aligned || isAsBefore(laid.trace, trace) ? laid : { trace }
}

const aheadText = (offset: number): string =>
  offset < 0 ? t('{time} ahead', { time: duration(-offset) }) : t('{time} behind', { time: duration(offset) })

function AlignButton(): VNode {
  const aligned = areAligned()
  return (
    <button type="button" class="small" onClick={() => refine({ clocks: aligned ? undefined : 'aligned' })}>
      {aligned ? t('As recorded') : t('Align the clocks')}
    </button>
  )
}

/** Before the calls, when a clock is surely off: bars of its host stand at wrong times. */
export function ClockNotice({ clocks }: { clocks: Clocks }): VNode {
  const off = clocks.offsets.filter(isReal)
  const [worst] = off
  if (worst === undefined) return <></>
  const host = visible(clocks.hosts[worst.host]!)
  const others = off.length - 1
  return (
    <p class="notice warn">
      <span>
        {tx('If calls end within their callers, the clock of {host} is {ahead} of that of {reference}{more}.', {
          host: <a href={linkTo('hosts', clocks.hosts[worst.host])}>{host}</a>,
          ahead: aheadText(worst.offset),
          reference: visible(clocks.hosts[clocks.reference]!),
          more:
            others === 0
              ? ''
              : others === 1
                ? t(', and one other is off, too')
                : t(', and {others} others are off, too', { others: count(others) }),
        })}
        {areAligned() && <> {t('Its calls are moved to where they fit those of the others.')}</>}
      </span>
      <AlignButton />
    </p>
  )
}

function columnsOf(clocks: Clocks): Column<ClockOffset>[] {
  return [
    {
      key: 'host',
      head: t('host'),
      text: true,
      cell: ({ host }) => (
        <a class="plain" href={linkTo('hosts', clocks.hosts[host])}>
          {visible(clocks.hosts[host]!)}
        </a>
      ),
    },
    {
      key: 'offset',
      head: t('its clock is'),
      cell: (one) => (isReal(one) ? aheadText(one.offset) : t('the same, as far as is known')),
    },
    { key: 'doubt', head: t('wrong by at most'), cell: ({ doubt }) => `± ${duration(doubt)}` },
    { key: 'samples', head: t('calls'), cell: ({ samples }) => count(samples) },
  ]
}

/** All of them, when it is asked for or one is off. */
export function ClockTable({ clocks }: { clocks: Clocks }): VNode {
  const { offsets, hosts, reference } = clocks
  if (offsets.length === 0) return <></>
  const off = offsets.filter(isReal).length
  const open = value('offsets') === 'shown' || off > 0
  return (
    <section class="card open" aria-label={t('Clocks')}>
      <header>
        <h2>{t('Clocks')}</h2>
        <span class="quiet-text">
          {off === 0
            ? tx(
                'Those of {hosts} hosts agree with that of {reference}, as far as calls between them tell: within {doubt}',
                {
                  hosts: count(offsets.length),
                  reference: visible(hosts[reference]!),
                  doubt: duration(Math.max(...offsets.map(({ doubt }) => doubt))),
                },
              )
            : tx('against that of {reference}, as calls between them tell', { reference: visible(hosts[reference]!) })}
        </span>
        {off === 0 && (
          <button
            type="button"
            class="small"
            aria-expanded={open}
            onClick={() => refine({ offsets: open ? undefined : 'shown' })}
          >
            {t('Each host')}
          </button>
        )}
      </header>
      {open && (
        <Table
          label={t('Clocks')}
          columns={columnsOf(clocks)}
          rows={offsets.slice(0, ROWS)}
          rowKey={({ host }) => String(host)}
        />
      )}
      {open && offsets.length > ROWS && (
        <p class="more">{tx('{more} more hosts differ less.', { more: count(offsets.length - ROWS) })}</p>
      )}
    </section>
  )
}
