/** Places of a list's elements before null ones were taken out. A list that is not in here had none. */
const written = new WeakMap<object, readonly number[]>()

/**
 * Takes null out of every list within a value that was parsed for this call: the official Go client makes a slice of three
 * personalizations and fills one, and its command-line program does the same with attachments.
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

/** Whether anything was taken out of a list. */
export function hadNulls(list: object): boolean {
  return written.has(list)
}

/** Where the client wrote this element of a list. */
export function writtenPlace(list: unknown, at: number): number {
  return (typeof list === 'object' && list !== null ? written.get(list)?.[at] : undefined) ?? at
}

/** The way to a part of the value, with the places in lists that the client wrote. */
export function writtenSteps(value: unknown, steps: readonly string[]): string[] {
  let part = value
  return steps.map((step) => {
    const named = Array.isArray(part) ? String(writtenPlace(part, Number(step))) : step
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined
    return named
  })
}
