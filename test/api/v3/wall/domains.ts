import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeDomain(
  { act }: Setting,
  owner: Parameters<Setting['act']>[0],
): Promise<{ domain: string; id: number }> {
  const domain = `wall${++made}.example`
  const { id } = (await act(owner, 'authenticateDomain', { body: { domain } })) as { id: number }
  return { domain, id }
}

const ofDomain: WallEntry = {
  kind: 'object',
  make: async (setting, owner) => ({ params: { domain_id: (await makeDomain(setting, owner)).id } }),
  missing: { params: { domain_id: 999_999_999 } },
  seen: ({ params }) => ['viewAuthenticatedDomain', { params: params ?? {} }],
}

async function makeLink({ service }: Setting, { accountId }: Caller): Promise<{ domain: string; id: number }> {
  const domain = `wall${++made}.example`
  const { id } = await service.core.domains.add({ accountId, name: domain, envelopeName: 'go' })
  return { domain, id }
}

const ofLink: WallEntry = {
  ...ofDomain,
  make: async (setting, owner) => ({ params: { link_id: (await makeLink(setting, owner)).id } }),
  missing: { params: { link_id: 999_999_999 } },
  seen: ({ params }) => ['viewBrandedLink', { params: params ?? {} }],
}

export const domains: Wall = {
  authenticateDomain: {
    kind: 'own',
    input: { body: { domain: 'stranger.example' } },
    seen: ['listAuthenticatedDomains', {}],
  },
  listAuthenticatedDomains: { kind: 'list', make: async (setting, owner) => (await makeDomain(setting, owner)).domain },
  viewAuthenticatedDomain: ofDomain,
  validateDomain: ofDomain,
  deleteAuthenticatedDomain: ofDomain,
  listBrandedLinks: { kind: 'list', make: async (setting, owner) => (await makeLink(setting, owner)).domain },
  createBrandedLink: {
    kind: 'object',
    make: async (setting, owner) => ({ body: { domain: (await makeLink(setting, owner)).domain } }),
    missing: { body: { domain: 'of.nobody.example' } },
    seen: () => ['listBrandedLinks', {}],
  },
  viewBrandedLink: ofLink,
  validateBrandedLink: ofLink,
  // There are none, whoever asks.
  listVerifiedSenders: { kind: 'none' },
  createVerifiedSender: { kind: 'none' },
  viewVerificationSteps: { kind: 'none' },
  listParseSettings: { kind: 'none' },
  createParseSetting: { kind: 'none' },
}
