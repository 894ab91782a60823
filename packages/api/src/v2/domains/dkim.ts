import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { type DomainRecord, domain, EXAMPLE, Named, SendingDomain, shown, UNKNOWN } from './domain-shapes.ts'

const ED25519_RECORD: Static<typeof DomainRecord> = {
  type: 'TXT',
  host: 'pr1-ed-4kd0zx._domainkey.ship.example',
  value: 'v=DKIM1; k=ed25519; p=11qY…',
  purpose: 'dkim',
  key: 'next',
  algorithm: 'ed25519',
  required: false,
  verified: false,
  state: 'unchecked',
}

/** The keys that sign mail of a domain. */
export const DOMAIN_KEYS: readonly Operation[] = [
  operation({
    name: 'rotateDkim',
    creates: true,
    summary: 'Create the next DKIM key of each algorithm. It signs after its record was found in the DNS',
    cli: 'domain rotate',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/rotateDkim', 'POST']],
    input: Named,
    answer: SendingDomain,
    errors: UNKNOWN,
    example: { input: { domain: 'ship.example' }, data: EXAMPLE },
    act: async ({ domain }, { core, principal, by }) => {
      return { data: shown(await core.domains.rotateDkim(principal.account.id, domain, by)) }
    },
  }),
  operation({
    name: 'setDkimKey',
    summary: 'Upload a DKIM key of your own. It signs after its record was found in the DNS',
    cli: 'domain set-key',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/dkimKey', 'POST']],
    input: Type.Object({
      domain,
      selector: Type.String(),
      privateKey: Type.String({ description: 'RSA with 1024 to 4096 bits, or Ed25519; unencrypted PEM' }),
    }),
    answer: Type.Object({ ...SendingDomain.properties, warnings: Type.Array(Type.String()) }),
    errors: UNKNOWN,
    example: {
      input: { domain: 'ship.example', selector: 'own1', privateKey: '-----BEGIN PRIVATE KEY-----\nMIIE…' },
      data: { ...EXAMPLE, warnings: ['The key has 1024 bits; some receivers ignore keys of less than 2048'] },
    },
    act: async ({ domain: name, selector, privateKey }, { core, principal, by }) => {
      const key = { name, selector, privateKey }
      const { domain, warnings } = await core.domains.setDkimKey(principal.account.id, key, by)
      return { data: { ...shown(domain), warnings } }
    },
  }),
  operation({
    name: 'setEd25519',
    summary: 'Sign mail of a domain with an Ed25519 key, too, or no longer',
    cli: 'domain ed25519',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/ed25519', 'POST']],
    input: Type.Object({ domain, ed25519: Type.Boolean() }),
    answer: SendingDomain,
    errors: UNKNOWN,
    example: {
      input: { domain: 'ship.example', ed25519: true },
      data: { ...EXAMPLE, ed25519: true, dns: [...EXAMPLE.dns.slice(0, 1), ED25519_RECORD, ...EXAMPLE.dns.slice(1)] },
    },
    act: async ({ domain, ed25519 }, { core, principal, by }) => {
      return { data: shown(await core.domains.setEd25519(principal.account.id, { name: domain, ed25519 }, by)) }
    },
  }),
]
