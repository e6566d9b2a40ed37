// Whole numbers of 16 digits and more are not exact as JavaScript numbers. Points in time (begin_time_ns, ...) become
// BigInt, whatever their size; all else is a number, exact to its 15 digits.

/** Texts, in which digits are no numbers, and whole numbers of so many digits; no parts of others. */
const TOKENS = /"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/g
const WHOLE = /^-?\d{16,}$/
const MARK = '\u0001n'

/** Durations that are named so for what they are of; every other *_time_ns is a point in time. */
const DURATIONS = new Set(['process_time_ns'])

export function parseExact(text: string): unknown {
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"\\u0001n${token}"`))
  return revived('', JSON.parse(marked))
}

/** In place: JSON.parse calls a function for each number, of which the map of 3,000 hosts has a million. */
function revived(key: string, value: unknown): unknown {
  if (typeof value === 'number') return isTime(key) ? BigInt(value) : value
  if (typeof value === 'string') return value.startsWith(MARK) ? exact(key, value.slice(MARK.length)) : value
  if (Array.isArray(value)) {
    const list = value as unknown[]
    for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'number') list[i] = revived('', list[i])
  } else if (value !== null && typeof value === 'object') {
    const object = value as Record<string, unknown>
    for (const name of Object.keys(object)) object[name] = revived(name, object[name])
  }
  return value
}

function isTime(key: string): boolean {
  return key.endsWith('_time_ns') && !DURATIONS.has(key)
}

function exact(key: string, digits: string): unknown {
  // A text that begins so is none of ours: it was quoted, and has no digits alone behind the mark.
  if (!WHOLE.test(digits)) return MARK + digits
  return isTime(key) || key === 'time_ns' ? BigInt(digits) : Number(digits)
}
