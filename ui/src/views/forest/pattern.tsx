// One pattern: how much it is, its icicle, and its tree as a table.

import type { VNode } from 'preact'
import type { Pattern, PatternNode } from '../../api/answers.ts'
import { go, linkTo, refine, value, values } from '../../app/address.ts'
import { askedPeriod } from '../../app/period.ts'
import { Strip, logDomain, type Domain } from '../../marks/strip.tsx'
import { Name, Opener } from '../../parts/bits.tsx'
import { Exported } from '../../parts/export.tsx'
import { Icicle } from '../../parts/icicle.tsx'
import { Facts, factsOf } from '../../parts/measure.tsx'
import { Spread, type SpreadAsked } from '../../parts/spreading.tsx'
import { Sames } from '../../parts/view.tsx'
import { t, tx } from '../../text/t.ts'
import type { Width } from '../../timeline/icicle.ts'
import { bytes, count, duration, meanResolution, share } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'

/** Traces of the pattern with such calls, the longest traces first; of a pattern of several merged ones all. */
function tracesLink(pattern: Pattern, node: PatternNode, slowest: boolean): string {
  return linkTo('traces', '', {
    pattern: pattern.merged === undefined ? pattern.pattern : undefined,
    function: node.function,
    role: node.role,
    host: value('host'),
    call_min_duration: slowest ? `${Math.floor(node.q95_ns!)}ns` : undefined,
    sort: 'duration_ns',
  })
}

/** Of a stored pattern and all hosts: of what was merged here, and of one host, there are sums only. */
function spreadAsked(pattern: Pattern, number: number): SpreadAsked | undefined {
  if (pattern.merged !== undefined || value('host') !== undefined) return undefined
  return { ...askedPeriod(), pattern: pattern.pattern, node: String(number) }
}

function NodeSpreads({ node, asked }: { node: PatternNode; asked: SpreadAsked }): VNode {
  return (
    <>
      <h4>{t('How its calls are spread')}</h4>
      <Spread of="duration" asked={asked} />
      {node.bytes !== undefined && <Spread of="bytes" asked={asked} />}
      {node.rate !== undefined && <Spread of="rate" asked={asked} />}
      <div class="sames">
        <Sames asked={[{ question: 'distribution', parameters: asked }]} />
      </div>
    </>
  )
}

function NodePanel({ pattern, number }: { pattern: Pattern; number: number }): VNode {
  const node = pattern.nodes[number]!
  const asked = node.calls > 0 ? spreadAsked(pattern, number) : undefined
  return (
    <section class="panel" aria-label={t('The call that is chosen')}>
      <h3>
        <Name text={node.function} role={node.role} />
      </h3>
      <Facts facts={factsOf(node)} />
      <p class="buttons">
        <a class="button" href={tracesLink(pattern, node, false)}>
          {t('Slowest traces with it')}
        </a>
        {node.q95_ns !== undefined && (
          <a class="button" href={tracesLink(pattern, node, true)}>
            {t('Its slowest 5 %')}
          </a>
        )}
        <a class="button" href={linkTo('functions', '', { function: node.function, by: 'host' })}>
          {t('By host')}
        </a>
        <button type="button" onClick={() => go({ exclude: [...values('exclude'), node.function] })}>
          {t('Leave it out')}
        </button>
      </p>
      {node.hosts.length > 0 && (
        <p class="quiet-text">{tx('ran on {hosts}', { hosts: node.hosts.map(visible).join(', ') })}</p>
      )}
      {asked !== undefined && <NodeSpreads node={node} asked={asked} />}
    </section>
  )
}

function spreadOf(node: PatternNode, domain: Domain): VNode | string {
  if (node.min_ns === undefined) return '-'
  const spread = {
    min: node.min_ns,
    q25: node.q25_ns!,
    q50: node.q50_ns!,
    q75: node.q75_ns!,
    q95: node.q95_ns!,
    max: node.max_ns!,
  }
  const time = (ns: number): string => duration(ns, node.resolution_ns)
  const label = t('least {min}, median {q50}, 95 % {q95}, most {max}', {
    min: time(spread.min),
    q50: time(spread.q50),
    q95: time(spread.q95),
    max: time(spread.max),
  })
  return <Strip spread={spread} domain={domain} label={label} />
}

function TreeTable({ nodes, chosen }: { nodes: readonly PatternNode[]; chosen: number }): VNode {
  const domain = logDomain(nodes.flatMap((node) => (node.min_ns === undefined ? [] : [node.min_ns, node.max_ns!])))
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={t('The tree as a table')}>
      <table class="tree">
        <thead>
          <tr>
            <th scope="col" class="text">
              {t('call')}
            </th>
            {[t('calls'), t('mean'), t('spread (log)'), '95 %', t('total'), t('self'), t('critical'), t('bytes')].map(
              (head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {nodes.map((node, i) => (
            <tr key={i} class={i === chosen ? 'chosen' : ''}>
              <td class="text">
                <button
                  type="button"
                  class="plain"
                  style={{ paddingLeft: `${node.depth * 16}px` }}
                  onClick={() => refine({ sel: String(i) })}
                >
                  <Name text={node.function} role={node.role} />
                </button>
              </td>
              <td>{count(node.calls)}</td>
              <td>{duration(node.mean_ns, meanResolution(node.resolution_ns, node.calls))}</td>
              <td>{spreadOf(node, domain)}</td>
              <td>{node.q95_ns === undefined ? '-' : duration(node.q95_ns, node.resolution_ns)}</td>
              <td>{duration(node.total_ns, node.resolution_ns)}</td>
              <td>{duration(node.self_ns, node.resolution_ns)}</td>
              <td>{duration(node.critical_ns, node.resolution_ns)}</td>
              <td>{node.bytes === undefined ? '-' : bytes(node.bytes.total_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Opened({ pattern }: { pattern: Pattern }): VNode {
  const width = (value('width') ?? 'critical') as Width
  const within = (text: string | undefined): number => {
    const number = Number(text ?? '-1')
    return Number.isInteger(number) && number >= 0 && number < pattern.nodes.length ? number : -1
  }
  const focus = within(value('focus'))
  const chosen = Math.max(0, within(value('sel')))
  return (
    <>
      {focus >= 0 && (
        <p class="chips">
          <span class="chip">
            {tx('below {function}', { function: <b>{visible(pattern.nodes[focus]!.function)}</b> })}
            <button type="button" aria-label={t('the whole tree')} onClick={() => go({ focus: undefined })}>
              ×
            </button>
          </span>
        </p>
      )}
      {width === 'bytes' && pattern.nodes.every((node) => node.bytes === undefined) && (
        <p class="more">{t('No call of this pattern recorded bytes.')}</p>
      )}
      <Exported name="tree">
        <Icicle
          nodes={pattern.nodes}
          width={width}
          focus={focus}
          chosen={chosen}
          onChoose={(node) => refine({ sel: String(node), open: pattern.pattern })}
          onFocus={(node) => go({ focus: node === 0 ? undefined : String(node), open: pattern.pattern })}
        />
      </Exported>
      <div class="beside">
        <Exported name="calls" table>
          <TreeTable nodes={pattern.nodes} chosen={chosen} />
        </Exported>
        <NodePanel pattern={pattern} number={chosen} />
      </div>
    </>
  )
}

function Marks({ pattern }: { pattern: Pattern }): VNode {
  const marks = [
    pattern.mixed === true
      ? [t('rare shapes'), t('traces of rare shapes, counted together by the paths of their calls')]
      : [],
    pattern.incomplete ? [t('incomplete'), t('spans are missing')] : [],
    pattern.merged !== undefined
      ? [
          t('{patterns} merged', { patterns: count(pattern.merged) }),
          t('patterns that became equal by what is left out'),
        ]
      : [],
    pattern.stored_traces !== undefined
      ? [
          t('{storedTraces} still stored', { storedTraces: count(pattern.stored_traces) }),
          t('the other traces were removed for age or space; the statistics stay'),
        ]
      : [],
  ].filter((mark) => mark.length > 0)
  return (
    <>
      {marks.map(([text, why]) => (
        <span key={text} class="mark" title={why}>
          {text}
        </span>
      ))}
    </>
  )
}

export function PatternCard(props: { pattern: Pattern; number: number; whole: number; open: boolean }): VNode {
  const { pattern, open } = props
  const root = pattern.nodes[0]
  return (
    <section class={`card ${open ? 'open' : ''}`}>
      <header>
        <Opener
          open={open}
          turn={() => go({ open: open ? 'none' : pattern.pattern, sel: undefined, focus: undefined })}
        >
          <h2>
            <Name text={root?.function ?? ''} role={root?.role ?? 'local'} />
          </h2>
        </Opener>
        <Marks pattern={pattern} />
        <span class="amounts">
          {tx('{total} of the time · {traces} traces · {total2} · {nodes} nodes', {
            total: <b>{share(pattern.total_ns, props.whole)}</b>,
            traces: count(pattern.traces),
            total2: duration(pattern.total_ns),
            nodes: count(pattern.nodes.length),
          })}
        </span>
        <a href={linkTo('traces', '', { pattern: pattern.pattern, sort: 'duration_ns' })}>{t('traces')}</a>
        {pattern.first_example !== undefined && <a href={linkTo('trace', pattern.first_example)}>{t('newest')}</a>}
      </header>
      <div class="share-line" aria-hidden="true">
        <span style={{ width: `${((100 * pattern.total_ns) / Math.max(props.whole, 1)).toFixed(2)}%` }} />
      </div>
      {open && <Opened pattern={pattern} />}
    </section>
  )
}
