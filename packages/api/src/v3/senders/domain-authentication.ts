import { type DnsRecord, type DomainWithRecords, ServiceError } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { notFound, refuse } from '../refusal.ts'
import { PAGES, pageOf } from './domain-pages.ts'

const OfDomain = Type.Object({ domain_id: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }) })
const ALL = '/whitelabel/domains'
const ONE = `${ALL}/:domain_id`
const common = { scope: 'domains', section: '7.1' } as const

/** Sending domains, with the records that have to be published. What SendGrid lets choose besides the name has no effect: subdomain, IP addresses, SPF. */
export const DOMAIN_AUTHENTICATION: readonly Operation[] = [
  operation({
    name: 'listAuthenticatedDomains',
    summary: 'List the sending domains with their DNS records',
    cli: 'domain list',
    ...common,
    method: 'GET',
    path: ALL,
    right: 'whitelabel.read',
    status: 200,
    query: Type.Object({
      ...PAGES,
      domain: Type.Optional(Type.String()),
    }),
    act: async ({ query }, call) => {
      const page = pageOf(query)
      const found = call.core.domains.page(call.principal.account.id, { name: query.domain, ...page })
      const { domains, total } = await found.catch(aboutDomain)
      sendPageLinks(call, { ...page, total })
      return domains.map((domain) => shown(domain, call))
    },
  }),
  operation({
    name: 'authenticateDomain',
    summary: 'Add a sending domain, and show the DNS records to publish',
    cli: 'domain add',
    ...common,
    method: 'POST',
    path: ALL,
    right: 'whitelabel.create',
    status: 201,
    body: Type.Object({ domain: Type.String() }),
    act: async ({ body: { domain: name } }, call) => {
      const { core, principal, by } = call
      const added = core.domains.add({ accountId: principal.account.id, name, by })
      return shown(await added.catch(aboutDomain), call)
    },
  }),
  operation({
    name: 'viewAuthenticatedDomain',
    summary: 'Show a sending domain with its DNS records',
    cli: 'domain dns',
    ...common,
    method: 'GET',
    path: ONE,
    right: 'whitelabel.read',
    status: 200,
    params: OfDomain,
    act: async ({ params }, call) => shown(await find(call, params.domain_id), call),
  }),
  operation({
    name: 'validateDomain',
    summary: 'Look up the DNS records of a sending domain now',
    cli: 'domain check',
    ...common,
    method: 'POST',
    path: `${ONE}/validate`,
    right: 'whitelabel.update',
    status: 200,
    params: OfDomain,
    act: async ({ params }, call) => {
      const { core, principal, by } = call
      const { name } = await find(call, params.domain_id)
      const { id, state, dns } = await core.domains.verify(principal.account.id, name, by)
      const results = named(dns).map(([key, { verified, problem }]) => [
        key,
        { valid: verified, reason: verified ? null : (problem ?? 'The record was not found.') },
      ])
      return { id, valid: state === 'active', validation_results: Object.fromEntries(results) }
    },
  }),
  operation({
    name: 'deleteAuthenticatedDomain',
    summary: 'Delete a sending domain. Accepted mail is still delivered',
    cli: 'domain delete',
    ...common,
    method: 'DELETE',
    path: ONE,
    right: 'whitelabel.delete',
    status: 204,
    params: OfDomain,
    act: async ({ params }, call) => {
      const { core, principal, by } = call
      const { name } = await find(call, params.domain_id)
      await core.domains.remove(principal.account.id, name, by)
    },
  }),
]

/** Throws V3Refusal 404. */
async function find({ core, principal }: Call, id: string): Promise<DomainWithRecords> {
  const domain = await core.domains.byId(principal.account.id, Number(id))
  if (!domain) throw notFound()
  return domain
}

function shown({ id, name, state, dns }: DomainWithRecords, { principal: { account } }: Call) {
  const returnPath = dns.find(({ purpose }) => purpose === 'returnPath')?.host ?? name
  const records = named(dns).map(([key, { type, host, value, verified }]) => [
    key,
    { valid: verified, type: type.toLowerCase(), host, data: value },
  ])
  return {
    id,
    user_id: account.id,
    subdomain: returnPath.slice(0, -name.length - 1),
    domain: name,
    username: account.name,
    ips: [],
    custom_spf: false,
    default: false,
    legacy: false,
    automatic_security: false,
    valid: state === 'active',
    dns: Object.fromEntries(records),
  }
}

const KEYS: Readonly<Record<DnsRecord['purpose'], string>> = {
  dkim: 'dkim',
  spf: 'domain_spf',
  returnPath: 'mail_cname',
  envelope: 'link_cname',
  dmarc: 'dmarc',
}

/** Returns the records under SendGrid's names of them; further keys are `dkim2` and so on. */
function named(dns: readonly DnsRecord[]): [key: string, record: DnsRecord][] {
  let keys = 0
  return dns.map((record) => {
    const isFurther = record.purpose === 'dkim' && ++keys > 1
    return [isFurther ? `dkim${keys}` : KEYS[record.purpose], record]
  })
}

/** Reports core's errors about a name with v3's field name. */
function aboutDomain(error: unknown): never {
  const about = ['domainInvalid', 'domainTaken', 'domainClaimsTooMany']
  throw error instanceof ServiceError && about.includes(error.errorName) ? refuse(400, error.message, 'domain') : error
}
