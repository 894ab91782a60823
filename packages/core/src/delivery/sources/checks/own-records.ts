import { dkimRecordText } from '../../../domains/keys/dkim-key.ts'
import { operatorPublicKey } from '../../../domains/keys/operator-signer.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { DnsQuery } from '../../../platform/net/dns-lookup.ts'
import { notRight, type RecordCheck, right, skipped, unanswered } from './record-check.ts'

type OwnConfig = Pick<Config, 'receivesReports' | 'returnPathHost' | 'operatorDkim'>

/** Any name below the record's, since it has a wildcard. */
const ANY = 'any-domain'

/** Looks up the records of the service that belong to no address: for DMARC reports, and the operator's own DKIM key. */
export async function checkOwnRecords(
  config: OwnConfig,
  query: DnsQuery,
  skip: string | undefined,
): Promise<RecordCheck[]> {
  const checks = [
    ...(config.receivesReports ? [reportsRecord(config.returnPathHost)] : []),
    ...dkimRecords(config.operatorDkim),
  ]
  return Promise.all(checks.map((check) => lookUp(check, query, skip)))
}

interface OwnRecord {
  readonly record: Pick<RecordCheck, 'purpose' | 'type' | 'host' | 'expected'>
  /** The host that is looked up. */
  readonly asked: string
  readonly fits: (text: string) => boolean
}

/** RFC 7489 7.1, RFC 9990: a receiver asks for each domain of another organization whether this host takes its reports. */
function reportsRecord(host: string): OwnRecord {
  const below = `_report._dmarc.${host}`
  return {
    record: { purpose: 'reports', type: 'TXT', host: `*.${below}`, expected: 'v=DMARC1;' },
    asked: `${ANY}.${below}`,
    fits: (text) => /^v=DMARC1\b/.test(text),
  }
}

/** Returns the record of a key in a file; those of sending domains are checked with their domains. */
function dkimRecords(dkim: Config['operatorDkim']): OwnRecord[] {
  if (dkim?.keyFile === undefined) return []
  const host = `${dkim.selector}._domainkey.${dkim.domain}`
  const publicKey = operatorPublicKey(dkim.keyFile)
  const key = publicKey.toString('base64')
  const expected = dkimRecordText({ algorithm: 'rsa', publicKey })
  return [
    {
      record: { purpose: 'dkim', type: 'TXT', host, expected },
      asked: host,
      fits: (text) => text.replace(/\s/g, '').includes(`p=${key}`),
    },
  ]
}

async function lookUp(
  { record, asked, fits }: OwnRecord,
  query: DnsQuery,
  skip: string | undefined,
): Promise<RecordCheck> {
  if (skip !== undefined) return skipped(record, skip)
  const answer = await query('TXT', asked)
  if (answer.kind === 'unanswered') return unanswered(record, answer.code)
  return answer.values.some(fits) ? right(record, answer.values) : notRight(record, answer.values, 'differs')
}
