// The views, in the order of the menu. What is not there is not in it.

import type { VNode } from 'preact'
import { AppView } from './app/view.tsx'
import { AppsView } from './apps/view.tsx'
import { DiffView } from './diff/view.tsx'
import { ForestView } from './forest/view.tsx'
import { FunctionsView } from './functions/view.tsx'
import { HostsView } from './hosts/view.tsx'
import { OperationsView } from './operations/view.tsx'
import { OverviewView } from './overview/view.tsx'
import { ShellView } from './shell/view.tsx'
import { StageView } from './stage/view.tsx'
import { StatusView } from './status/view.tsx'
import { TraceView } from './trace/view.tsx'
import { TracesView } from './traces/view.tsx'

export interface ViewOf {
  readonly name: string
  readonly title: string
  /** With g before it. */
  readonly key: string
  readonly draw: () => VNode
  /** Reached from others only. */
  readonly hidden?: boolean
  readonly withoutPeriod?: boolean
}

export const VIEWS: readonly ViewOf[] = [
  { name: 'overview', title: 'Overview', key: 'o', draw: OverviewView },
  { name: 'hosts', title: 'Hosts', key: 'h', draw: HostsView },
  { name: 'functions', title: 'Functions', key: 'f', draw: FunctionsView },
  { name: 'forest', title: 'Forest', key: 'c', draw: ForestView },
  { name: 'traces', title: 'Traces', key: 't', draw: TracesView },
  { name: 'trace', title: 'Trace', key: '', draw: TraceView, hidden: true, withoutPeriod: true },
  { name: 'diff', title: 'Diff', key: 'd', draw: DiffView },
  { name: 'apps', title: 'Applications', key: 'a', draw: AppsView, withoutPeriod: true },
  { name: 'app', title: 'Application', key: '', draw: AppView, hidden: true, withoutPeriod: true },
  { name: 'stage', title: 'Stage', key: '', draw: StageView, hidden: true, withoutPeriod: true },
  {
    name: 'operations',
    title: 'Operations',
    key: '',
    draw: OperationsView,
    hidden: true,
    withoutPeriod: true,
  },
  { name: 'shell', title: 'Shell', key: 'x', draw: ShellView, withoutPeriod: true },
  { name: 'status', title: 'Status', key: 's', draw: StatusView, withoutPeriod: true },
]
