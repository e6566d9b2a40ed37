import { render } from 'preact'
import { linkTo } from './app/address.ts'
import { listenToKeys } from './app/keys.ts'
import { askAgain } from './app/question.ts'
import { nextTheme, otherZone, toggleLive } from './frame/choices.tsx'
import { Frame } from './frame/frame.tsx'
import { helpShown } from './frame/help.tsx'
import { shiftPeriod } from './frame/period-bar.tsx'
import { SEARCH_FIELD } from './frame/search.tsx'
import { t } from './text/t.ts'
import { VIEWS, loadOtherViews } from './views/views.ts'

/** After what the first view asks for. */
const OTHERS_AFTER_MS = 2000

const focus = (id: string): void => document.getElementById(id)?.focus()

listenToKeys([
  { keys: '?', does: t('this help'), run: () => (helpShown.value = true) },
  { keys: '/', does: t('search'), run: () => focus(SEARCH_FIELD) },
  ...VIEWS.filter((view) => view.hidden !== true).map((view) => ({
    keys: `g ${view.key}`,
    does: view.title,
    run: () => void (location.hash = linkTo(view.name)),
  })),
  { keys: 't', does: t('the period'), run: () => focus('period-since') },
  { keys: '[', does: t('half a period earlier'), run: () => shiftPeriod(-1) },
  { keys: ']', does: t('half a period later'), run: () => shiftPeriod(1) },
  { keys: 'l', does: t('live'), run: toggleLive },
  { keys: 'r', does: t('ask again'), run: askAgain },
  { keys: 'z', does: t('the time zone'), run: otherZone },
  { keys: 'd', does: t('the theme'), run: nextTheme },
])

render(<Frame />, document.getElementById('page')!)
setTimeout(loadOtherViews, OTHERS_AFTER_MS)
