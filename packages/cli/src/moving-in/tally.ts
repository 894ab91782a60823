/** What became of the things of one kind; in a dry run, what would. */
export interface Counts {
  added: number
  /** There already, and the same. */
  there: number
  /** There already, but not the same: left as it is. */
  differs: number
  overwritten: number
  /** What this service does not take. */
  refused: number
}

export const KINDS = [
  'groups',
  'templates',
  'versions',
  'spam reports',
  'unsubscribes',
  'bounces',
  'group suppressions',
] as const
export type Kind = (typeof KINDS)[number]

/** Something of the source that stays behind. */
export interface Counterpart {
  readonly what: string
  /** Null: not counted. */
  readonly count: number | string | null
  readonly why: string
}

/** Sentences of one sort that are kept; all are counted. */
const TOLD = 50

/** Grows while the command runs, and stays small whatever is read. */
export interface Tally {
  readonly counts: Readonly<Record<Kind, Counts>>
  readonly differences: string[]
  readonly refusals: string[]
  readonly leftBehind: Counterpart[]
  /** Lists that could not be read to their end. */
  readonly cut: string[]
  /** Versions with a picture, and of the design editor; bounces and complaints with their texts. */
  readonly seen: { pictures: number; designs: number; texts: number }
}

export function newTally(): Tally {
  const none = (): Counts => ({ added: 0, there: 0, differs: 0, overwritten: 0, refused: 0 })
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, none()])) as Record<Kind, Counts>
  const seen = { pictures: 0, designs: 0, texts: 0 }
  return { counts, differences: [], refusals: [], leftBehind: [], cut: [], seen }
}

export function tell(sentences: string[], sentence: string): void {
  if (sentences.length < TOLD) sentences.push(sentence)
  else if (sentences.length === TOLD) sentences.push('and more')
}
