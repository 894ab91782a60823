import { PartDigest } from '../composition/body.ts'
import { queueColumnsOf } from './queue-columns.ts'
import type { StoredDelivery, StoredMessage } from './stored-message.ts'

/** Returns the parameters of the accept statement: an array per column, so that the statement is the same for every batch size. */

export function messageColumns(batch: readonly StoredMessage[]) {
  return {
    id: batch.map(({ id }) => id),
    account: batch.map(({ accountId }) => accountId),
    parent: batch.map(({ parentId }) => parentId),
    domain: batch.map(({ domainId }) => domainId),
    apiKey: batch.map(({ apiKeyId }) => apiKeyId),
    door: batch.map(({ door }) => door),
    scheduledAt: batch.map(({ scheduledAt }) => scheduledAt?.toISOString() ?? null),
    from: batch.map(({ fromAddress }) => fromAddress),
    subject: batch.map(({ subject }) => subject),
    // As one JSON text per message, because arrays of arrays must be rectangular.
    tags: batch.map(({ tags }) => JSON.stringify(tags)),
    settings: batch.map(({ settings }) => JSON.stringify(settings)),
    client: batch.map(({ clientAddress }) => clientAddress),
    format: batch.map(({ format }) => format),
    size: batch.map(({ size }) => size),
    parts: batch.map(({ parts }) => parts.length),
    recipients: batch.map(({ deliveries }) => deliveries.length),
    // As text: in an array of booleans the driver would send every text as false.
    nullReturnPath: batch.map(({ nullReturnPath }) => String(nullReturnPath)),
    transactionBase: batch.map(({ transactionBase }) => String(transactionBase)),
    key: batch.map(({ idempotencyKey }) => idempotencyKey ?? null),
    fingerprint: batch.map(({ fingerprint }) => fingerprint?.toString('hex') ?? null),
  }
}

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
