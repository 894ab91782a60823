import { readHeader, readLeaves } from '../../mime/read-leaves.ts'
import { garbageCollector, RELEASE_FROM_BYTES } from '../../platform/concurrency/garbage.ts'
import { type Served, serveOrders } from '../../platform/concurrency/thread-orders.ts'
import { addressIn } from '../read/address-in.ts'
import { findReport } from './read/find-report.ts'
import { REPORT_LIMITS, UnreadableReport } from './read/limits.ts'
import { readDmarc } from './read/read-dmarc.ts'
import { readTls } from './read/read-tls.ts'
import { domainIn } from './read/report-text.ts'
import { unpack } from './read/unpack.ts'
import { verifySigner } from './read/verify-signer.ts'
import type { ReportOrder, ThreadReport } from './report-reader.ts'

const MAX_FIELD = 1000

const { release } = garbageCollector()

/** Thread that reads aggregate reports. It keeps no state between them. */
serveOrders(async ({ octets, keys }: ReportOrder): Promise<Served<ThreadReport>> => {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  const from = addressIn((readHeader(raw).get('from') ?? '').slice(0, MAX_FIELD)) ?? ''
  const sender = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  try {
    const { reading, fileName, size } = await readReport(raw)
    // Otherwise several reports of 50 MiB are in memory before the first one is collected.
    if (size >= RELEASE_FROM_BYTES) release()
    const receiver = domainIn(fileName.split('!', 1)[0] ?? '') ?? ''
    const signer = await verifySigner({ raw, keys, claimed: [reading.emailDomain, receiver] })
    return { answer: { reading, sender, signer }, transfer: [] }
  } catch (error) {
    if (!(error instanceof UnreadableReport)) throw error
    // As much as it may have unpacked.
    if (octets.length * REPORT_LIMITS.ratio >= REPORT_LIMITS.unpacked / 2) release()
    return { answer: { reading: { kind: 'unreadable', why: error.why }, sender, signer: undefined }, transfer: [] }
  }
})

async function readReport(raw: Buffer) {
  const packed = findReport(readLeaves(raw))
  const text = await unpack(packed)
  const reading = isJson(text) ? readTls(text) : readDmarc(text)
  return { reading, fileName: packed.fileName, size: text.length }
}

/** By the first character after white space and a byte order mark. */
function isJson(text: Buffer): boolean {
  return /^[\s\ufeff]{0,100}\{/.test(text.subarray(0, 200).toString())
}
