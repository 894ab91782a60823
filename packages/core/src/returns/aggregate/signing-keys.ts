import { readHeader } from '../../mime/read-leaves.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'
import { addressIn } from '../read/address-in.ts'

/** The TXT records at the hosts of DKIM keys, by host. */
export type SigningKeys = ReadonlyMap<string, readonly string[]>

/** Signatures of a message that are verified. */
export const MAX_SIGNATURES = 5
const DEADLINE_MS = 5000
const MAX_FIELD = 4000
const NAME = /^[\w.-]{1,253}$/

/**
 * Looks up the keys of a message's DKIM signatures. Done before the thread reads the message, so that slow name servers do not occupy the
 * thread. `isUnanswered`: the DNS does not know at the moment whether the sender has signed it.
 */
export async function lookUpSigningKeys(
  servers: readonly string[],
  raw: Buffer,
): Promise<{ readonly keys: SigningKeys; readonly isUnanswered: boolean }> {
  const fields = readHeader(raw)
  const sender = addressIn((fields.get('from') ?? '').slice(0, MAX_FIELD)) ?? ''
  const senderDomain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase()
  const hosts = fields.all('dkim-signature').slice(0, MAX_SIGNATURES).flatMap(keyHostOf)
  if (hosts.length === 0) return { keys: new Map(), isUnanswered: false }
  const answers = await withDns({ servers, deadlineMs: DEADLINE_MS }, (query) =>
    Promise.all(hosts.map(async (one) => ({ ...one, answer: await query('TXT', one.host) }))),
  )
  const keys = new Map(
    answers.map(({ host, answer }) => [host, answer.kind === 'records' ? answer.values : []] as const),
  )
  const isUnanswered = answers.some(
    ({ domain, answer }) => answer.kind === 'unanswered' && isRelated(domain, senderDomain),
  )
  return { keys, isUnanswered }
}

function keyHostOf(signature: string): { readonly host: string; readonly domain: string }[] {
  const tags = new Map(
    signature
      .slice(0, MAX_FIELD)
      .split(';')
      .map((tag) => {
        const [name = '', value = ''] = tag.split('=', 2)
        return [name.trim(), value.trim().toLowerCase()] as const
      }),
  )
  const [domain = '', selector = ''] = [tags.get('d'), tags.get('s')]
  return NAME.test(domain) && NAME.test(selector) ? [{ host: `${selector}._domainkey.${domain}`, domain }] : []
}

/** Whether the last two labels are the same: roughly the same organization, without the public suffix list. */
function isRelated(one: string, other: string): boolean {
  const end = (domain: string) => domain.split('.').slice(-2).join('.')
  return end(one) === end(other)
}
