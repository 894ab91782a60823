import type { Secrets } from '../../platform/security/secrets.ts'
import { forgottenHash } from '../../suppressions/forgotten.ts'
import { makeTrackingToken, type TrackingTarget } from './token.ts'

/** The links in one recipient's copy. They are the same for every attempt. */
export interface Links {
  /** URL of the tracking pixel. */
  open(): string
  /** URL of a tracked link; `link` is its index in the message, from 0. */
  click(link: number, url: string): string
  unsubscribe(): string
  /** Unsubscribes from all mail, regardless of the message's group. */
  unsubscribeFromAll(): string
  /** The page where the recipient chooses among groups. */
  preferences(): string
}

/** Returns the links of one recipient. `base` is their base URL without a trailing slash. */
export function createLinks(
  secrets: Secrets,
  base: string,
  recipient: Pick<TrackingTarget, 'accountId' | 'messageId' | 'recipientNo' | 'group'> & { readonly key: string },
): Links {
  const make = (letter: string, kind: TrackingTarget['kind'], link = 0, url = '', of = recipient): string =>
    `${base}/t/${letter}/${makeTrackingToken(secrets, { ...of, kind, link, url })}`
  const optOut = () => optOutHash(secrets, recipient.accountId, recipient.key)
  return {
    open: () => make('o', 'open'),
    click: (link, url) => make('c', 'click', link, url),
    unsubscribe: () => make('u', 'unsubscribe', 0, optOut()),
    preferences: () => make('p', 'preferences', 0, optOut()),
    unsubscribeFromAll: () => make('u', 'unsubscribe', 0, optOut(), { ...recipient, group: 0 }),
  }
}

/**
 * Returns the keyed hash of an address, which an unsubscribe link carries in `url`. With it the link stays valid after the address
 * is no longer stored, because the recipient was erased or the message deleted. The hash appears only in the recipient's own mail
 * and is encrypted there.
 */
export function optOutHash(secrets: Secrets, accountId: number, recipientKey: string): string {
  return forgottenHash(secrets, accountId, recipientKey).toString('base64url')
}
