import type { AddedContent } from '../../composition/added-content.ts'
import type { RecipientData } from '../../composition/recipient-data.ts'
import { parseAddress } from '../../mime/address.ts'
import type { ResentMessage } from '../../submission/submission-details.ts'
import type { StoredDelivery } from '../stored-message.ts'

/** The parts of a message that is sent again which are those of the first one. */

/** Returns its settings. Only the host of its links may have changed. */
export function resentSettings({ settings, originalId }: ResentMessage, trackingHost: string | null): AddedContent {
  const { trackingHost: _old, traceParent: _first, notifications: _asked, ...same } = settings as AddedContent
  const { clickTracking, openTracking, unsubscribe } = same
  const links = clickTracking || openTracking || unsubscribe
  return { ...same, resentFrom: originalId, ...(links && trackingHost !== null ? { trackingHost } : {}) }
}

export function resentDeliveries({ recipients }: ResentMessage): StoredDelivery[] {
  return recipients.map(({ recipient, kind, reference, personal }, recipientNo) => {
    const address = parseAddress(recipient)
    const own = personal as RecipientData | null
    const isTrivial = own !== null && own.envelope === recipientNo && Object.keys(own).length === 1
    return {
      recipientNo,
      recipient,
      kind,
      reference,
      key: address?.key ?? null,
      domain: address?.domain ?? '',
      personal: isTrivial ? null : own,
    }
  })
}
