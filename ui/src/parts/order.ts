// Rows in the order that they had. No DOM.

/** Those that were there come first, in their order; what is new follows as it came. */
export function inOrderOf<T>(keys: readonly string[], rows: readonly T[], keyOf: (row: T) => string): T[] {
  const places = new Map(keys.map((key, i) => [key, i]))
  const placeOf = (row: T): number => places.get(keyOf(row)) ?? keys.length
  return [...rows].sort((a, b) => placeOf(a) - placeOf(b))
}
