import { parameterText } from '../../../mime/parameters.ts'
import { parametersIn } from '../../../mime/read.ts'
import type { Leaf, Leaves } from '../../../mime/read-leaves.ts'
import { UnreadableReport } from './limits.ts'

/** The attachment with the report, still packed. */
export interface PackedReport {
  readonly packing: 'gzip' | 'zip' | 'none'
  readonly octets: Buffer
  /** Empty if it has none. Its first part should be the domain of the receiver (RFC 9990, RFC 8460 5.1). */
  readonly fileName: string
}

const MAX_FIELD_LENGTH = 2048
const MAX_OCTETS = 10 * 1024 * 1024
const TEXT_TYPES = /^(?:text|application)\/(?:xml|json|tlsrpt\+json)$/
const TEXT_NAME = /\.(?:xml|json)$/i

/**
 * Returns the first attachment that can be a report, by its first octets: receivers write all kinds of types for the same. Throws
 * {@link UnreadableReport} if there is none.
 */
export function findReport({ leaves }: Leaves): PackedReport {
  for (const leaf of leaves) {
    const fileName = fileNameOf(leaf)
    const packing = packingOf(leaf, fileName)
    if (packing) return { packing, octets: leaf.octets(MAX_OCTETS), fileName }
  }
  throw new UnreadableReport('no-report', 'no attachment that can be a report')
}

function packingOf(leaf: Leaf, fileName: string): PackedReport['packing'] | undefined {
  const start = leaf.octets(4)
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip'
  if (start.subarray(0, 4).toString('latin1') === 'PK\x03\x04') return 'zip'
  return TEXT_TYPES.test(leaf.type) || TEXT_NAME.test(fileName) ? 'none' : undefined
}

function fileNameOf({ fields }: Leaf): string {
  const parameter = (field: string, name: string) =>
    parameterText(parametersIn((fields.get(field) ?? '').slice(0, MAX_FIELD_LENGTH)), name)
  return parameter('content-disposition', 'filename') ?? parameter('content-type', 'name') ?? ''
}
