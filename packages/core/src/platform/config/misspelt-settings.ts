import { SETTINGS } from './settings.ts'

/** A variable of the environment that is not a setting, and the setting that it probably was meant to be. */
export interface MisspeltSetting {
  readonly name: string
  readonly meant: string
}

/** Longer names are those of something else. */
const MAX_LENGTH = 60
/** Wrong, missing or surplus letters with which a name still passes for a setting's. */
const MISTAKES = 2
/** A shorter name with two mistakes may be any other word. */
const SHORT = 9

/**
 * Returns the variables whose names resemble a setting's: with another case, without underscores, with the prefix POSTRIDER_, or with one or
 * two mistakes. A misspelt setting would otherwise be ignored, and the service run with its default.
 */
export function misspeltSettings(env: Readonly<Record<string, string | undefined>>): MisspeltSetting[] {
  const names = SETTINGS.map(({ name }) => name)
  const known = new Set(names)
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || name.length > MAX_LENGTH) return []
    const plain = plainName(name)
    const meant = names.find((one) => plainName(one) === plain) ?? nearest(plain, names)
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** Returns the sentence that tells a user of it. */
export function misspeltText({ name, meant }: MisspeltSetting): string {
  return `${name} is not a setting and has no effect; ${meant} is one`
}

function plainName(name: string): string {
  return name
    .toUpperCase()
    .replace(/^POSTRIDER_/, '')
    .replaceAll('_', '')
}

function nearest(plain: string, names: readonly string[]): string | undefined {
  return names.find((name) => resembles(plain, plainName(name)))
}

/** Whether a word may be a misspelling of this name: with one mistake, or two if it is longer. */
export function resembles(word: string, name: string): boolean {
  return word.length <= MAX_LENGTH && isWithin(word, name, word.length < SHORT ? 1 : MISTAKES)
}

/** Whether at most `most` letters are wrong, missing, surplus or, next to each other, exchanged. */
function isWithin(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const exchange = isExchange ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min((next[j - 1] as number) + 1, (row[j] as number) + 1, (row[j - 1] as number) + same, exchange))
    }
    before = row
    row = next
  }
  return (row[b.length] as number) <= most
}
