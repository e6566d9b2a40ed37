// Hosts: all, or one.

import type { VNode } from 'preact'
import { route } from '../../app/address.ts'
import { OneHost } from './host.tsx'
import { HostsList } from './list.tsx'

export const HostsView = (): VNode => (route.value.id === '' ? <HostsList /> : <OneHost />)
