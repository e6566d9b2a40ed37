// Tables as comma-separated values (RFC 4180): those of the page as they are shown, and what charts draw.

/** Spreadsheets take what begins so for a formula, and names come from the network. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?[\d.,]+( ?[%\w/µ]+)?$/

export function quotedCell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** What a cell says: its text; of a mark its label. */
function said(cell: Element): string {
  const marks = [...cell.querySelectorAll('svg[aria-label]')].map((mark) => mark.getAttribute('aria-label') ?? '')
  const copy = cell.cloneNode(true) as Element
  for (const unseen of copy.querySelectorAll('svg, [aria-hidden=true]')) unseen.remove()
  return [copy.textContent.replace(/\s+/g, ' ').trim(), ...marks].filter((part) => part !== '').join(' ')
}

export function tableCsv(table: HTMLTableElement): string {
  return [...table.rows]
    .filter((row) => !row.classList.contains('detail'))
    .map((row) => [...row.cells].map((cell) => quotedCell(said(cell))).join(',') + '\r\n')
    .join('')
}

/** What a chart draws, as a table. */
export interface ChartData {
  /** Of the columns. The first one names the row. */
  readonly head: readonly string[]
  /** What numbers count, '' where there are none: in CSV it stands beside the first head, and numbers as they are. */
  readonly unit: string
  /** undefined: nothing is there. */
  readonly rows: readonly (readonly (string | number | undefined)[])[]
  /** How numbers are shown. */
  readonly write: (value: number) => string
}

export function dataCsv({ head: [first, ...more], unit, rows }: ChartData): string {
  const head = [unit === '' ? (first ?? '') : `${first ?? ''} (${unit})`, ...more]
  return [head, ...rows]
    .map((row) => row.map((cell) => (typeof cell === 'number' ? String(cell) : quotedCell(cell ?? ''))).join(','))
    .map((line) => `${line}\r\n`)
    .join('')
}
