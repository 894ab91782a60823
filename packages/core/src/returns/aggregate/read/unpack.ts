import { promisify } from 'node:util'
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import type { PackedReport } from './find-report.ts'
import { malformed, REPORT_LIMITS, tooLarge } from './limits.ts'

const STORED = 0
const DEFLATED = 8
/** Entries of an archive that are looked at. */
const MAX_ENTRIES = 50
const ADDED = /\/$|^__MACOSX\/|(?:^|\/)\.[^/]*$/
const REPORT_NAME = /\.(?:xml|json)$/i

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

/** The report in an archive. Its sizes are verified, as other readers may believe them. */
async function unzip(octets: Buffer): Promise<Buffer> {
  const { entry, start } = await entryOfReport(octets)
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

/**
 * The only file of an archive, or the only one whose name is that of a report. Directories, and what macOS and editors add (`__MACOSX/`, hidden files),
 * are passed over. Of two reports, one would be lost.
 */
async function entryOfReport(octets: Buffer): Promise<{ entry: Entry; start: number }> {
  try {
    const file = await promisify(openArchive)(octets)
    if (file.entryCount > MAX_ENTRIES) throw malformed(`the archive has more than ${MAX_ENTRIES} files`)
    const files = (await entriesOf(file)).filter(({ fileName }) => !ADDED.test(fileName.toString('latin1')))
    const named = files.filter(({ fileName }) => REPORT_NAME.test(fileName.toString('latin1')))
    const [entry, second] = named.length > 0 ? named : files
    if (!entry || second) throw malformed('the archive has no report, or several')
    const { fileDataStart: start } = await promisify(localHeader)(file, entry)
    return { entry, start }
  } catch (error) {
    throw malformed((error as Error).message)
  }
}

function openArchive(octets: Buffer, done: (error: Error | null, file: ZipFile) => void): void {
  // Names that are decoded are verified, too: some writers use backslashes.
  fromBuffer(octets, { lazyEntries: true, decodeStrings: false }, done)
}

function entriesOf(file: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = []
  return new Promise((resolve, reject) => {
    file.on('entry', (entry) => {
      entries.push(entry)
      file.readEntry()
    })
    file.once('error', reject)
    file.once('end', () => resolve(entries))
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
