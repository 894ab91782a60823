import type { AuditEntry } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from './operation.ts'
import { Count, pageOf } from './shapes.ts'

const Entry = Type.Object({
  number: Type.Integer(),
  at: Type.String(),
  keyId: Type.Union([Type.Integer(), Type.Null()], {
    description: 'null: the operator at the command line, or the service itself',
  }),
  ip: Type.Union([Type.String(), Type.Null()]),
  action: Type.String(),
  object: Type.String(),
  before: Type.Unknown(),
  after: Type.Unknown(),
  hash: Type.String({ description: 'SHA-256 of this entry and of the hash before, in hexadecimal digits' }),
})

/** The account's audit log: who changed what, from where and when. */
export const AUDIT: readonly Operation[] = [
  operation({
    name: 'listAudit',
    summary: 'Changes of what the account owns, oldest first',
    group: 'Audit',
    scope: 'audit',
    routes: [['/audit', 'GET', 'POST']],
    input: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0, description: 'entries behind this number' })),
      limit: Count('at most 1000; 100 unless told'),
    }),
    answer: Type.Array(Entry),
    errors: [],
    example: {
      input: { after: 0, limit: 100 },
      data: [
        {
          ...{ number: 1, at: '2026-01-05T10:11:12.000Z', keyId: 3, ip: '192.0.2.9', action: 'template.create' },
          ...{ object: 'template 12', before: null, after: { name: 'berth_ready' }, hash: '9f86d081884c7d65' },
        },
      ],
    },
    act: async ({ after = 0, ...input }, { core, principal }) => {
      const { limit } = pageOf(input, { byDefault: 100, most: 1000 })
      return { data: (await core.audit.list(principal.account.id, { after, limit })).map(shown) }
    },
  }),
]

function shown({ at, address, hash, previousHash: _, ...entry }: AuditEntry): Static<typeof Entry> {
  return { ...entry, at: at.toISOString(), ip: address, hash: hash.toString('hex') }
}
