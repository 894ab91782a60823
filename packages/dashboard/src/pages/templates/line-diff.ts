/** A line of a comparison: in both texts, only in the older one, or only in the newer one. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

export interface Diff {
  readonly lines: readonly DiffLine[]
  /** False if the texts are so long that lines in the middle are shown as replaced without looking for pairs, or not at all. */
  readonly isComplete: boolean
}

/** Lines of a text that are looked at. */
const MAX_LINES = 20_000
/** Pairs of lines that are compared: 10 ms. */
const MAX_PAIRS = 1_000_000

/**
 * Compares two texts line by line, by their longest common subsequence after what they have in common at both ends. Takes at most some ten milliseconds:
 * what differs in more than a million pairs of lines is returned as removed and added as a whole.
 */
export function compareLines(older: string, newer: string): Diff {
  const [a, b] = [linesOf(older), linesOf(newer)]
  const common = Math.min(a.length, b.length)
  let start = 0
  while (start < common && a[start] === b[start]) start++
  let end = 0
  while (end < common - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const isSmall = middleA.length * middleB.length <= MAX_PAIRS
  const middle = isSmall ? pairs(middleA, middleB) : [...as('removed', middleA), ...as('added', middleB)]
  const lines = [...as('same', a.slice(0, start)), ...middle, ...as('same', a.slice(a.length - end))]
  return { lines, isComplete: isSmall && a.length < MAX_LINES && b.length < MAX_LINES }
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n', MAX_LINES)
}

function as(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

function pairs(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1
  // Length of the longest common subsequence of a from i and b from j on.
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] as number
  const ids = new Map<string, number>()
  for (const line of [...a, ...b]) if (!ids.has(line)) ids.set(line, ids.size)
  const [idsA, idsB] = [a.map((line) => ids.get(line)), b.map((line) => ids.get(line))]
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = idsA[i] === idsB[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (idsA[i] === idsB[j]) {
      lines.push({ kind: 'same', text: a[i++] as string })
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ kind: 'removed', text: a[i++] as string })
    else lines.push({ kind: 'added', text: b[j++] as string })
  }
  return [...lines, ...as('removed', a.slice(i)), ...as('added', b.slice(j))]
}
