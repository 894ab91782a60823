/** Original indexes of the elements of a list from which nulls were removed. Lists not in this map had none. */
const written = new WeakMap<object, readonly number[]>()

/**
 * Removes null from every list within a value parsed for this call. The official Go client allocates three personalizations and
 * fills in one, and its command line does the same with attachments.
 */
export function skipNullElements(value: unknown): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  if (Array.isArray(value)) {
    if (value.includes(null)) takeOut(value)
    for (const element of value) skipNullElements(element)
  } else {
    for (const name in value) skipNullElements((value as Record<string, unknown>)[name])
  }
}

function takeOut(list: unknown[]): void {
  const places: number[] = []
  for (const [place, element] of list.entries()) {
    if (element === null) continue
    list[places.length] = element
    places.push(place)
  }
  list.length = places.length
  written.set(list, places)
}

/** Returns whether nulls were removed from the list. */
export function hadNulls(list: object): boolean {
  return written.has(list)
}

/** Returns the index that a list element had in the client's input. */
export function writtenPlace(list: unknown, at: number): number {
  return (typeof list === 'object' && list !== null ? written.get(list)?.[at] : undefined) ?? at
}

/** Returns the path of a part of the value, with the list indexes of the client's input. */
export function writtenSteps(value: unknown, steps: readonly string[]): string[] {
  let part = value
  return steps.map((step) => {
    const named = Array.isArray(part) ? String(writtenPlace(part, Number(step))) : step
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined
    return named
  })
}
