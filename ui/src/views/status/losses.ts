// What did not get into the store, by reason.

import type { ReceiverStatus } from '../../api/answers.ts'
import { t } from '../../text/t.ts'

export interface Loss {
  readonly where: string
  readonly reason: string
  readonly number: number
  /** Else of frames, connections or requests: how many spans were in them, nobody knows. */
  readonly ofSpans: boolean
}

function droppedBySenders(receiver: ReceiverStatus): Record<string, number> {
  const drops: Record<string, number> = {}
  for (const sender of receiver.senders)
    for (const [reason, spans] of Object.entries(sender.drops)) drops[reason] = (drops[reason] ?? 0) + spans
  return drops
}

function setAside({ spans_set_aside: spans }: ReceiverStatus): Record<string, number> {
  return spans === 0 ? {} : { [t('no store took them: look into the log')]: spans }
}

export function lossesOf(receiver: ReceiverStatus): Loss[] {
  const kinds: readonly (readonly [where: string, reasons: Readonly<Record<string, number>>, ofSpans: boolean])[] = [
    [t('spans refused'), receiver.refused, true],
    [t('frames not taken'), receiver.rejected_frames, false],
    [t('connections closed'), receiver.refused_connections, false],
    [t('HTTP requests'), receiver.rejected_http, false],
    [t('dropped by senders'), droppedBySenders(receiver), true],
    [t('set aside'), setAside(receiver), true],
  ]
  return kinds.flatMap(([where, reasons, ofSpans]) =>
    Object.entries(reasons).map(([reason, number]) => ({ where, reason, number, ofSpans })),
  )
}

export const spansLost = (receiver: ReceiverStatus): number =>
  lossesOf(receiver).reduce((sum, loss) => (loss.ofSpans ? sum + loss.number : sum), 0)
