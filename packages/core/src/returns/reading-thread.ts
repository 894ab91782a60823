import { readHeader } from '../mime/read-leaves.ts'
import { type Served, serveOrders } from '../platform/concurrency/thread-orders.ts'
import { addressIn } from './read/address-in.ts'
import { readReturn } from './read/index.ts'
import { readLetter } from './read/letter.ts'
import type { ReadingOrder, ThreadReading } from './return-reader.ts'

const MAX_FIELD = 1000

/** Thread that reads messages that came back. It keeps no state between messages. */
serveOrders(({ octets, returnPath, mailFrom, isLetter }: ReadingOrder): Served<ThreadReading> => {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  if (isLetter)
    return { answer: { reading: { kind: 'unrecognised' }, reporter: '', letter: readLetter(raw) }, transfer: [] }
  const from = addressIn((readHeader(raw).get('from') ?? '').slice(0, MAX_FIELD)) ?? ''
  const reporter = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  return { answer: { reading: readReturn(raw, returnPath, mailFrom), reporter }, transfer: [] }
})
