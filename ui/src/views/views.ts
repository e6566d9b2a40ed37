// The views, in the order of the menu. What is not there is not in it.

import type { VNode } from 'preact'
import { t } from '../text/t.ts'
import { DiffView } from './diff/view.tsx'
import { ForestView } from './forest/view.tsx'
import { FunctionsView } from './functions/view.tsx'
import { HostsView } from './hosts/view.tsx'
import { later } from './later.tsx'
import { OverviewView } from './overview/view.tsx'
import { StatusView } from './status/view.tsx'
import { TraceView } from './trace/view.tsx'
import { TracesView } from './traces/view.tsx'

const spark = later(() => import('./spark.ts'))
const shell = later(() => import('./shell/view.tsx'))

/** What no first view waits for. */
export function loadOtherViews(): void {
  spark.load()
  shell.load()
}

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
  { name: 'overview', title: t('Overview'), key: 'o', draw: OverviewView },
  { name: 'hosts', title: t('Hosts'), key: 'h', draw: HostsView },
  { name: 'functions', title: t('Functions'), key: 'f', draw: FunctionsView },
  { name: 'forest', title: t('Forest'), key: 'c', draw: ForestView },
  { name: 'traces', title: t('Traces'), key: 't', draw: TracesView },
  { name: 'trace', title: t('Trace'), key: '', draw: TraceView, hidden: true, withoutPeriod: true },
  { name: 'diff', title: t('Diff'), key: 'd', draw: DiffView },
  {
    name: 'apps',
    title: t('Applications'),
    key: 'a',
    draw: spark.view((views) => views.AppsView),
    withoutPeriod: true,
  },
  {
    name: 'app',
    title: t('Application'),
    key: '',
    draw: spark.view((views) => views.AppView),
    hidden: true,
    withoutPeriod: true,
  },
  {
    name: 'stage',
    title: t('Stage'),
    key: '',
    draw: spark.view((views) => views.StageView),
    hidden: true,
    withoutPeriod: true,
  },
  {
    name: 'operations',
    title: t('Operations'),
    key: '',
    draw: spark.view((views) => views.OperationsView),
    hidden: true,
    withoutPeriod: true,
  },
  { name: 'shell', title: t('Shell'), key: 'x', draw: shell.view((views) => views.ShellView), withoutPeriod: true },
  { name: 'status', title: t('Status'), key: 's', draw: StatusView, withoutPeriod: true },
]
