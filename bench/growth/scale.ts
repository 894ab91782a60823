/** How much a grown installation holds, at scale 1, and who has it. */
export interface Scale {
  /** Spread over `days`. */
  readonly sent: number
  /** Accepted within the last days, and still to be delivered. */
  readonly waiting: number
  readonly days: number
  readonly waitingDays: number
  /** Of the `shares` of mail that go to the one large account, to the ten medium ones, and to all small ones. */
  readonly shares: { readonly large: number; readonly medium: number; readonly small: number }
  readonly mediums: number
  readonly smalls: number
  /** Of the small ones, those under the large one. */
  readonly subaccounts: number
  readonly largeDomains: number
  readonly mediumDomains: number
  readonly suppressions: number
  readonly tags: number
  /** Days that have roll-ups, and how many of them small accounts sent on. */
  readonly countedDays: number
  readonly smallCountedDays: number
  /** Of the large account's messages each so-many-eth goes to one person: 10,000 of them at any scale of 0.1 and more. */
  readonly personEvery: number
  /** Templates, stored files, the audit log and what else an account has a list of. */
  readonly lists: boolean
}

export function scaleOf(scale: number): Scale {
  const scaled = (count: number): number => Math.max(1, Math.round(count * scale))
  return {
    sent: scaled(9_100_000),
    waiting: scaled(1_000_000),
    days: 84,
    waitingDays: 3,
    shares: { large: 4500, medium: 1700, small: 2900 },
    mediums: 10,
    smalls: scaled(5000),
    subaccounts: scaled(2000),
    largeDomains: scaled(5000),
    mediumDomains: 20,
    suppressions: scaled(2_000_000),
    tags: scaled(360_000),
    countedDays: 365,
    smallCountedDays: 130,
    personEvery: scaled(450),
    lists: true,
  }
}

/** The person who got ten thousand messages from the large account. */
export const PERSON = 'person@reader.example'
