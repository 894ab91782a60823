import { PartDigest } from '../composition/body.ts'
import { queueColumnsOf } from './queue-columns.ts'
import type { StoredDelivery, StoredMessage } from './stored-message.ts'

/** The parameters of the accept statement: an array per column, so that the statement is the same for every batch size. */
export function deliveryColumns(batch: readonly StoredMessage[]) {
  const pairs: { message: StoredMessage; delivery: StoredDelivery; group: number | null }[] = []
  for (const message of batch) {
    const { groupId: group } = queueColumnsOf(message.settings)
    for (const delivery of message.deliveries) pairs.push({ message, delivery, group })
  }
  return {
    message: pairs.map(({ message }) => message.id),
    account: pairs.map(({ message }) => message.accountId),
    number: pairs.map(({ delivery }) => delivery.recipientNo),
    recipient: pairs.map(({ delivery }) => delivery.recipient),
    key: pairs.map(({ delivery }) => delivery.key),
    domain: pairs.map(({ delivery }) => delivery.domain),
    kind: pairs.map(({ delivery }) => delivery.kind),
    reference: pairs.map(({ delivery }) => delivery.reference ?? null),
    personal: pairs.map(({ delivery }) => (delivery.personal ? JSON.stringify(delivery.personal) : null)),
    group: pairs.map(({ group }) => group),
  }
}

export function bodyColumns(batch: readonly StoredMessage[]) {
  const octets: Buffer[] = []
  const columns = {
    message: [] as string[],
    part: [] as number[],
    encoding: [] as string[],
    start: [] as number[],
    length: [] as number[],
    digest: [] as number[],
    objectLength: [] as (number | null)[],
  }
  let start = 1
  for (const { id, parts } of batch) {
    for (const [part, { encoding, pieces, length, objectLength = null }] of parts.entries()) {
      const digest = new PartDigest(id, part)
      for (const piece of pieces) digest.add(piece)
      octets.push(...pieces)
      columns.message.push(id)
      columns.part.push(part)
      columns.encoding.push(encoding)
      columns.start.push(start)
      columns.length.push(length)
      columns.digest.push(digest.value)
      columns.objectLength.push(objectLength)
      start += length
    }
  }
  return { ...columns, octets, end: start }
}
