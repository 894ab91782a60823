import type { Offers } from './offers.ts'

/** Offers from which most of them being refused is no accident: of two sending domains or more, and of one. */
const ENOUGH = { ofSeveralDomains: 20, ofOneDomain: 50 } as const
/** Different recipients for whom mail was refused. One that refuses everything, or makes its server answer so, must not cause a pause. */
const MIN_RECIPIENTS = 10
/** Accepted messages of accounts whose mail is mostly accepted that show that the destination takes mail. */
const PASSING = 5

/** Refused messages of an account from which its mail waits where that of several sending domains is refused. */
const FEW = 5

/** A refusal by a destination of most mail of an account, or of all accounts (null). */
export interface Block {
  readonly accountId: number | null
  readonly offered: number
  readonly refused: number
  /** Whether what was refused of it would do without that of others. */
  readonly isBlocked: boolean
}

interface Sum extends Block {
  readonly isMost: boolean
  /** If most was accepted, how many. */
  readonly accepted: number
}

/**
 * Returns the accounts of whose mail a destination refuses more than half, or one block of all. Single accounts are blocked if mail of others is
 * accepted, if authentication is missing, or if only one account sends there and its messages are refused for their content or sender.
 */
export function judgeOffers(offers: readonly Offers[]): readonly Block[] {
  const ofAccounts = Array.from(
    Map.groupBy(offers, ({ accountId }) => accountId),
    ([id, own]) => sumOf(id, own),
  )
  const all = sumOf(null, offers)
  const isOfMost = all.isBlocked && sum(ofAccounts, ({ accepted }) => accepted) < PASSING
  if (isOfMost && isOfAll(offers, ofAccounts)) return [all]
  // Authentication that several domains lack shows before one of them has sent 50 messages.
  return ofAccounts.filter(({ isBlocked, isMost, refused }) => isBlocked || (isOfMost && isMost && refused >= FEW))
}

function isOfAll(offers: readonly Offers[], ofAccounts: readonly Sum[]): boolean {
  const isSeveral = ofAccounts.filter(({ refused }) => refused > 0).length > 1
  const ofService = sum(offers, ({ service, message }) => service + (isSeveral ? message : 0))
  return 2 * ofService > sum(offers, refusedOf)
}

function sumOf(accountId: number | null, offers: readonly Offers[]): Sum {
  const refusing = offers.filter((one) => refusedOf(one) > 0)
  const [offered, refused] = [sum(offers, (one) => one.offered), sum(refusing, refusedOf)]
  const domains = new Set(refusing.map(({ domainId }) => domainId)).size
  const recipients = new Set(refusing.flatMap((one) => one.recipients)).size
  const isEnough = offered >= (domains > 1 ? ENOUGH.ofSeveralDomains : ENOUGH.ofOneDomain)
  const isMost = 2 * refused > offered
  return {
    accountId,
    offered,
    refused,
    isBlocked: isEnough && isMost && recipients >= MIN_RECIPIENTS,
    isMost,
    accepted: isMost ? 0 : offered - refused,
  }
}

function refusedOf({ service, message, authentication }: Offers): number {
  return service + message + authentication
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
