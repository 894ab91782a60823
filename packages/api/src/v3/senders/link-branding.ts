import type { DnsRecord, DomainWithRecords } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { notFound, refuse } from '../refusal.ts'
import { PAGES, pageOf } from './domain-pages.ts'

const OfLink = Type.Object({ link_id: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }) })
const ALL = '/whitelabel/links'
const ONE = `${ALL}/:link_id`
const common = { scope: 'domains', section: '7.1' } as const
const WITH_DOMAIN = {
  none: "a tracking host is one of the records of a domain, added and deleted with it: 'domain add'",
}
const WHOSE = 'A host of tracked links is chosen when a sending domain is added'

/** The hosts of tracked links, which belong to the sending domains and have their numbers. */
export const LINK_BRANDING: readonly Operation[] = [
  operation({
    name: 'listBrandedLinks',
    summary: 'List the hosts of tracked links of the sending domains that have their own',
    cli: 'domain list',
    ...common,
    method: 'GET',
    path: ALL,
    right: 'whitelabel.read',
    status: 200,
    query: Type.Object(PAGES),
    act: async ({ query }, call) => {
      const page = pageOf(query)
      const { domains, total } = await call.core.domains.page(call.principal.account.id, page)
      sendPageLinks(call, { ...page, total })
      return domains.flatMap((domain) => shown(domain, call) ?? [])
    },
  }),
  operation({
    name: 'createBrandedLink',
    summary: 'Show the host of tracked links of a sending domain, which was chosen when it was added',
    cli: WITH_DOMAIN,
    ...common,
    method: 'POST',
    path: ALL,
    right: 'whitelabel.create',
    status: 201,
    body: Type.Object({ domain: Type.String(), subdomain: Type.Optional(Type.String()) }),
    act: async ({ body: { domain: name, subdomain } }, call) => {
      const { domains } = await call.core.domains.page(call.principal.account.id, { limit: 1, offset: 0, name })
      const link = domains[0] && shown(domains[0], call)
      if (!link) throw refuse(400, `${WHOSE}: POST /v2/domain, with envelopeName.`, 'domain')
      if (subdomain !== undefined && subdomain !== link.subdomain) {
        throw refuse(400, `The host of tracked links of this domain is ${link.dns.domain_cname.host}.`, 'subdomain')
      }
      return link
    },
  }),
  operation({
    name: 'viewBrandedLink',
    summary: 'Show the host of tracked links of a sending domain',
    cli: 'domain dns',
    ...common,
    method: 'GET',
    path: ONE,
    right: 'whitelabel.read',
    status: 200,
    params: OfLink,
    act: async ({ params }, call) => {
      const link = shown(await find(call, params.link_id), call)
      if (!link) throw notFound()
      return link
    },
  }),
  operation({
    name: 'validateBrandedLink',
    summary: 'Look up the record of a host of tracked links now',
    cli: 'domain check',
    ...common,
    method: 'POST',
    path: `${ONE}/validate`,
    right: 'whitelabel.update',
    status: 200,
    params: OfLink,
    act: async ({ params }, call) => {
      const { core, principal, by } = call
      const { name } = await find(call, params.link_id)
      const { id, dns } = await core.domains.verify(principal.account.id, name, by)
      const record = trackingRecord(dns)
      if (!record) throw notFound()
      const { verified: valid, problem } = record
      const reason = valid ? null : (problem ?? 'The record was not found.')
      return { id, valid, validation_results: { domain_cname: { valid, reason } } }
    },
  }),
]

/** Throws V3Refusal 404. */
async function find({ core, principal }: Call, id: string): Promise<DomainWithRecords> {
  const domain = await core.domains.byId(principal.account.id, Number(id))
  if (!domain) throw notFound()
  return domain
}

function trackingRecord(dns: readonly DnsRecord[]): DnsRecord | undefined {
  return dns.find(({ purpose }) => purpose === 'envelope')
}

function shown({ id, name, dns }: DomainWithRecords, { principal: { account } }: Call) {
  const record = trackingRecord(dns)
  if (!record) return undefined
  const { type, host, value, verified: valid } = record
  return {
    id,
    domain: name,
    subdomain: host.slice(0, -name.length - 1),
    username: account.name,
    user_id: account.id,
    default: false,
    valid,
    legacy: false,
    dns: { domain_cname: { valid, type: type.toLowerCase(), host, data: value } },
  }
}
