import { readTagList, TAG_TWICE } from '../../mime/tag-list.ts'
import { printableValue } from '../../platform/net/dns-lookup.ts'
import type { RecordFault, SeenRecord, WantedRecord } from '../domain.ts'
import { POLICIES, readDmarc } from './dmarc-walk.ts'

/** Maximum number of unexpected values that are kept for display. */
const MAX_SHOWN = 5

/** Compares the values found at a record's host and type with the wanted record. */
export function evaluateRecord(wanted: WantedRecord, values: readonly string[]): SeenRecord {
  if (wanted.type === 'CNAME') return evaluateCname(wanted.value, values)
  const seen = evaluateText(wanted, values)
  const plain = values.map((value) => value.replace(/["\\]/g, '').trim())
  // A form that wants the text as it is keeps the quotation marks of a zone file.
  const isQuoted = seen.state !== 'right' && plain.some((text, at) => text !== values[at])
  return isQuoted && evaluateText(wanted, plain).state === 'right' ? wrong(values, QUOTED, 'quoted') : seen
}

const QUOTED = 'quotation marks or backslashes are part of the text; enter it without them'

function evaluateText(wanted: WantedRecord, values: readonly string[]): SeenRecord {
  if (wanted.purpose === 'dkim') return evaluateDkim(wanted.value, values)
  if (wanted.purpose === 'spf') return evaluateSpf(wanted.value, values)
  return evaluateDmarc(values)
}

const RIGHT: SeenRecord = { state: 'right' }
const MISSING: SeenRecord = { state: 'missing' }

export function wrong(found: readonly string[], problem: string, fault?: RecordFault): SeenRecord {
  const shown = found.slice(0, MAX_SHOWN).map(printableValue)
  return { state: 'wrong', found: shown, problem, ...(fault ? { fault } : {}) }
}

function evaluateCname(target: string, values: readonly string[]): SeenRecord {
  if (values.length === 0) return MISSING
  const hosts = values.map((value) => value.toLowerCase().replace(/\.$/, ''))
  if (hosts.includes(target.toLowerCase())) return RIGHT
  // The DNS host takes a name without a final dot as one below the domain.
  if (hosts.some((host) => host.startsWith(`${target.toLowerCase()}.`)))
    return wrong(values, 'the domain was appended to the target; end it with a dot', 'doubled')
  return wrong(values, 'points to another host')
}

/** RFC 6376 3.6.1, 3.6.2.2: exactly one record, with our key, usable for mail with SHA-256. */
function evaluateDkim(value: string, values: readonly string[]): SeenRecord {
  const records = values.filter((text) => /(^|;)\s*p\s*=/.test(text))
  const [record] = records
  if (record === undefined) return values.length === 0 ? MISSING : wrong(values, 'not a DKIM record')
  if (records.length > 1) return wrong(records, 'multiple DKIM records at this host; exactly one is allowed')
  const tags = readTagList(record)
  if (!tags) return wrong(records, TAG_TWICE)
  const key = tags.get('p')?.replace(/\s/g, '')
  if (key === '') return wrong(records, 'p= is empty, which revokes the key')
  const wanted = readTagList(value)
  const wholeKey = wanted?.get('p') ?? ''
  if (key !== wholeKey && key !== undefined && wholeKey.startsWith(key))
    return wrong(records, `p= is cut off after ${key.length} of ${wholeKey.length} characters`, 'cut')
  if (key !== wholeKey) return wrong(records, 'p= is a different key')
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1' || (tags.get('k') ?? 'rsa') !== wanted?.get('k')) {
    return wrong(records, `must contain v=DKIM1 and k=${wanted?.get('k')}`)
  }
  if (!allows(tags.get('h'), 'sha256') || !allows(tags.get('s'), 'email')) {
    return wrong(records, 'h= or s= does not allow mail signed with SHA-256')
  }
  return RIGHT
}

function allows(list: string | undefined, wanted: string): boolean {
  return list === undefined || list.split(':').some((item) => item.trim() === '*' || item.trim() === wanted)
}

/** RFC 7208 4.5, 5.1: exactly one SPF record; terms after its `all` are ignored. */
function evaluateSpf(value: string, values: readonly string[]): SeenRecord {
  const records = values.filter((text) => /^v=spf1( |$)/i.test(text))
  const [record] = records
  if (record === undefined) return MISSING
  if (records.length > 1) return wrong(records, 'multiple SPF records; exactly one is allowed (RFC 7208 4.5)')
  const include = value.split(' ')[1] as string
  const terms = record.toLowerCase().split(/ +/)
  const all = terms.findIndex((term) => /^[+?~-]?all$/.test(term))
  const before = all === -1 ? terms : terms.slice(0, all)
  const redirect = include.replace('include:', 'redirect=')
  const named = before.includes(include) || before.includes(`+${include}`)
  if (named || (all === -1 && before.includes(redirect))) return RIGHT
  return wrong(
    records,
    terms.length > before.length + 1 ? `${include} must precede "all"` : `does not contain ${include}`,
  )
}

/** Advisory only: the owner of the domain chooses its policy (RFC 7489 6.3). */
function evaluateDmarc(values: readonly string[]): SeenRecord {
  const { records, tags, problem } = readDmarc(values)
  if (problem !== undefined) return wrong(records, problem)
  if (!tags) return values.length === 0 ? MISSING : wrong(values, 'not a DMARC record')
  return POLICIES.includes(tags.get('p') ?? '') ? RIGHT : wrong(records, 'p= must be none, quarantine or reject')
}
