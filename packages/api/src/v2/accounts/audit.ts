import type { AuditEntry } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, pageOf } from '../shapes.ts'

const Entry = Type.Object({
  number: Type.Integer(),
  at: Type.String(),
  keyId: Type.Union([Type.Integer(), Type.Null()], {
    description: 'null if the operator (command line) or the service made the change',
  }),
  ip: Type.Union([Type.String(), Type.Null()]),
  agent: Type.Union([Type.String(), Type.Null()], {
    description: 'the program through which an agent made the change, as it named itself; null: no agent',
  }),
  action: Type.String(),
  object: Type.String(),
  before: Type.Unknown(),
  after: Type.Unknown(),
  hash: Type.String({ description: 'SHA-256 of this entry and the previous hash, in hexadecimal' }),
})

/** The account's audit log: all changes with their author, source and time. */
export const AUDIT: readonly Operation[] = [
  operation({
    name: 'listAudit',
    summary: "List changes of the account's objects, oldest first",
    cli: 'audit list',
    group: 'Audit',
    scope: 'audit',
    routes: [['/audit', 'GET', 'POST']],
    input: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0, description: 'entries after this number' })),
      limit: Count('at most 1000; default 100'),
    }),
    answer: Type.Array(Entry),
    errors: [],
    example: {
      input: { after: 0, limit: 100 },
      data: [
        {
          number: 1,
          at: '2026-01-05T10:11:12.000Z',
          keyId: 3,
          ip: '192.0.2.9',
          agent: null,
          action: 'template.create',
          object: 'template 12',
          before: null,
          after: { name: 'berth_ready' },
          hash: '9f86d081884c7d65',
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
