/** The results of one kind of objects; in a dry run, the planned ones. */
export interface Counts {
  added: number
  /** Objects that already exist and are identical. */
  there: number
  /** Objects that already exist, differ, and are left unchanged. */
  differs: number
  overwritten: number
  /** Objects that Postrider rejects. */
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

/** A feature of the source that is not imported. */
export interface NotImported {
  readonly what: string
  /** Null if not counted. */
  readonly count: number | string | null
  readonly why: string
}

/** Maximum number of messages kept per kind; all are counted. */
const MAX_SENTENCES = 50

/** The result so far. Its size is bounded, whatever is read. */
export interface ImportCounts {
  readonly counts: Readonly<Record<Kind, Counts>>
  readonly differences: string[]
  readonly refusals: string[]
  readonly leftBehind: NotImported[]
  /** Lists that the source truncated. */
  readonly cut: string[]
  /** Versions from which no message can be built. */
  readonly unusable: string[]
  /** Versions with a thumbnail; versions of the design editor; complaints with an IP address. */
  readonly seen: { pictures: number; designs: number; texts: number }
}

export function newTally(): ImportCounts {
  const none = (): Counts => ({ added: 0, there: 0, differs: 0, overwritten: 0, refused: 0 })
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, none()])) as Record<Kind, Counts>
  const seen = { pictures: 0, designs: 0, texts: 0 }
  return { counts, differences: [], refusals: [], leftBehind: [], cut: [], unusable: [], seen }
}

export function tell(sentences: string[], sentence: string): void {
  if (sentences.length < MAX_SENTENCES) sentences.push(sentence)
  else if (sentences.length === MAX_SENTENCES) sentences.push('and more')
}
