// Whole numbers of 16 digits and more are not exact as JavaScript numbers. Points in time (begin_time_ns, ...) become
// BigInt, whatever their size; all else is a number, exact to its 15 digits.

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const WHOLE = /^-?\d{16,}$/
const MARK = '\u0001n'

/** Durations that are named so for what they are of; every other *_time_ns is a point in time. */
const DURATIONS = new Set(['process_time_ns'])

export function parseExact(text: string): unknown {
  const marked = text.replace(TOKENS, (token) => (WHOLE.test(token) ? `"\\u0001n${token}"` : token))
  return JSON.parse(marked, (key, value: unknown) => {
    if (typeof value === 'string' && value.startsWith(MARK)) return exact(key, value.slice(MARK.length))
    if (typeof value === 'number' && isTime(key)) return BigInt(value)
    return value
  })
}

function isTime(key: string): boolean {
  return key.endsWith('_time_ns') && !DURATIONS.has(key)
}

function exact(key: string, digits: string): unknown {
  // A text that begins so is none of ours: it was quoted, and has no digits alone behind the mark.
  if (!WHOLE.test(digits)) return MARK + digits
  return isTime(key) || key === 'time_ns' ? BigInt(digits) : Number(digits)
}
