/** Octets of the largest request or message. */
export const MOST = 30 * 1024 * 1024

export const MB = 1024 * 1024
export const kB = 1024

/** The unit again and again, so many characters in all. */
export function fill(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
}

/** So many of what is made by number, one behind another. */
export function many(count: number, make: (at: number) => string, between = ''): string {
  return Array.from({ length: count }, (_, at) => make(at)).join(between)
}
