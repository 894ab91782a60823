import type { Secrets } from '../../platform/secrets.ts'
import { forgottenHash } from '../../suppressions/forgotten.ts'
import { makeTrackingToken, type TrackingTarget } from './token.ts'

/** The links one recipient's copy has. The same at every attempt. */
export interface Links {
  /** The pixel. */
  open(): string
  /** `link`: which of the message, from 0. */
  click(link: number, url: string): string
  unsubscribe(): string
  /** Leaves all mail, whatever group the message is of. */
  unsubscribeFromAll(): string
}

/** `base`: where they lead to, without a slash at its end. */
export function linksOf(
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
    unsubscribeFromAll: () => make('u', 'unsubscribe', 0, optOut(), { ...recipient, group: 0 }),
  }
}

/**
 * What an unsubscribe link carries, besides its delivery, in `url`: a keyed hash of the address, so that it still holds when
 * the address is no longer kept here, because the person was forgotten or the message is gone. The hash stands in his own mail
 * only, sealed.
 */
export function optOutHash(secrets: Secrets, accountId: number, recipientKey: string): string {
  return forgottenHash(secrets, accountId, recipientKey).toString('base64url')
}
