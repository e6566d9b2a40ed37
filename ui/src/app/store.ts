// What plumbd says of itself, for the frame and for empty views.

import { signal } from '@preact/signals'
import type { StatusAnswer } from '../api/answers.ts'

export const storeStatus = signal<StatusAnswer | undefined>(undefined)
