/** Words of a query that are corrected; each is compared with some 20,000 words, which takes some milliseconds. */
const MAX_WORDS = 6
const MIN_LENGTH = 3
/** No word that people look for is longer, and the time to compare two words grows with the product of their lengths. */
const MAX_LENGTH = 30

/** How often each word occurs in the texts, which are in lower case. */
export function vocabularyOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const words = new Map<string, number>()
  for (const text of texts)
    for (const word of text.split(/[^\p{L}\p{N}]/u))
      if (word.length >= MIN_LENGTH && word.length <= MAX_LENGTH) words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

/** Returns the query with each word that occurs nowhere replaced by the most similar one; undefined if there is nothing to replace. */
export function corrected(query: string, known: ReadonlyMap<string, number>): string | undefined {
  const given = query.toLowerCase().split(/\s/).filter(Boolean).slice(0, MAX_WORDS)
  const meant = given.map((word) => (occurs(word, known) ? word : nearest(word, known)))
  return meant.join(' ') === given.join(' ') ? undefined : meant.join(' ')
}

function occurs(word: string, known: ReadonlyMap<string, number>): boolean {
  if (known.has(word)) return true
  for (const one of known.keys()) if (one.includes(word)) return true
  return false
}

/** The word with the fewest changes, of several the most frequent; the word itself if none is similar. */
function nearest(word: string, known: ReadonlyMap<string, number>): string {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH) return word
  const most = word.length <= 4 ? 1 : 2
  let best = { word, changes: most + 1, count: 0 }
  for (const [one, count] of known) {
    if (Math.abs(one.length - word.length) > most) continue
    const changes = changesBetween(word, one, most)
    if (changes < best.changes || (changes === best.changes && changes <= most && count > best.count))
      best = { word: one, changes, count }
  }
  return best.word
}

/** Letters that are added, left out, replaced or exchanged with their neighbour; more than `most` is returned as `most` + 1. */
function changesBetween(a: string, b: string, most: number): number {
  let [older, old]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let fewest = i
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (older[j - 2] ?? 0) + 1)
      row.push(least)
      fewest = Math.min(fewest, least)
    }
    if (fewest > most) return most + 1
    ;[older, old] = [old, row]
  }
  return Math.min(old[b.length] ?? 0, most + 1)
}
