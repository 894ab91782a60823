import { promisify } from 'node:util'
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import type { PackedReport } from './find-report.ts'
import { malformed, REPORT_LIMITS, tooLarge } from './limits.ts'

const STORED = 0
const DEFLATED = 8

/** Returns the text of a report. Throws UnreadableReport; never unpacks more than the limits, whatever sizes are declared. */
export async function unpack({ packing, octets }: PackedReport): Promise<Buffer> {
  if (packing === 'gzip') return inflated(gunzipSync, octets)
  if (packing === 'zip') return unzip(octets)
  if (octets.length > REPORT_LIMITS.unpacked) throw tooLarge('the report')
  return octets
}

function inflated(inflate: typeof gunzipSync, packed: Uint8Array): Buffer {
  const maxOutputLength = Math.min(
    REPORT_LIMITS.unpacked,
    Math.max(REPORT_LIMITS.unpackedAlways, packed.length * REPORT_LIMITS.ratio),
  )
  try {
    return inflate(packed, { maxOutputLength })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('the unpacked report')
    throw malformed('the attachment cannot be unpacked')
  }
}

/** An archive with one file. Its sizes are verified, as other readers may believe them. */
async function unzip(octets: Buffer): Promise<Buffer> {
  const { entry, start } = await onlyEntry(octets)
  const { compressionMethod, compressedSize, uncompressedSize } = entry
  if (entry.isEncrypted() || ![STORED, DEFLATED].includes(compressionMethod)) {
    throw malformed('the archive is encrypted or has an unknown compression')
  }
  if (uncompressedSize > REPORT_LIMITS.unpacked) throw tooLarge('the unpacked report')
  const packed = octets.subarray(start, start + compressedSize)
  const text = compressionMethod === STORED ? packed : inflated(inflateRawSync, packed)
  if (text.length !== uncompressedSize || crc32(text) !== entry.crc32) throw malformed('the archive is damaged')
  return text
}

async function onlyEntry(octets: Buffer): Promise<{ entry: Entry; start: number }> {
  try {
    const file = await promisify(openArchive)(octets)
    if (file.entryCount !== 1) throw malformed('the archive has not exactly one file')
    const entry = await firstEntry(file)
    const { fileDataStart: start } = await promisify(localHeader)(file, entry)
    return { entry, start }
  } catch (error) {
    throw malformed((error as Error).message)
  }
}

function openArchive(octets: Buffer, done: (error: Error | null, file: ZipFile) => void): void {
  // File names are not used, so they are not decoded either.
  fromBuffer(octets, { lazyEntries: true, decodeStrings: false }, done)
}

function firstEntry(file: ZipFile): Promise<Entry> {
  return new Promise((resolve, reject) => {
    file.once('entry', resolve)
    file.once('error', reject)
    file.once('end', () => reject(new Error('the archive is empty')))
    file.readEntry()
  })
}

function localHeader(
  file: ZipFile,
  entry: Entry,
  done: (error: Error | null, header: { readonly fileDataStart: number }) => void,
): void {
  file.readLocalFileHeader(entry, { minimal: true }, done)
}
