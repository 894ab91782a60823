import { MAX_SIGNATURES, type SigningKeys } from '../../mime/conformance/verify-signatures.ts'
import { readTagList } from '../../mime/tag-list.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'

export interface KeyLookup {
  /** Values of DKIM-Signature fields, in their order. */
  readonly signatures: readonly string[]
  readonly servers: readonly string[]
  /** Milliseconds for all of them. */
  readonly deadlineMs: number
}

export interface FoundKeys {
  readonly keys: SigningKeys
  /** Domains of signatures about whose keys the DNS does not know at the moment. */
  readonly unanswered: readonly string[]
}

const MAX_FIELD = 4000
const NAME = /^[\w.-]{1,253}$/

/** Looks up the keys of DKIM signatures. Done before a thread verifies them, so that slow name servers do not occupy the thread. */
export async function lookUpSigningKeys({ signatures, servers, deadlineMs }: KeyLookup): Promise<FoundKeys> {
  const hosts = signatures.slice(0, MAX_SIGNATURES).flatMap(keyHostOf)
  if (hosts.length === 0) return { keys: new Map(), unanswered: [] }
  const answers = await withDns({ servers, deadlineMs }, (query) =>
    Promise.all(hosts.map(async (one) => ({ ...one, answer: await query('TXT', one.host) }))),
  )
  const keys = new Map(
    answers.map(({ host, answer }) => [host, answer.kind === 'records' ? answer.values : []] as const),
  )
  return { keys, unanswered: answers.flatMap(({ domain, answer }) => (answer.kind === 'unanswered' ? [domain] : [])) }
}

function keyHostOf(signature: string): { readonly host: string; readonly domain: string }[] {
  const tags = readTagList(signature.slice(0, MAX_FIELD))
  const [domain = '', selector = ''] = [tags?.get('d'), tags?.get('s')].map((tag) => tag?.toLowerCase())
  return NAME.test(domain) && NAME.test(selector) ? [{ host: `${selector}._domainkey.${domain}`, domain }] : []
}
