import { Readable } from 'node:stream'
import { ACCOUNT_REASONS, parseAddress, ServiceError, SUPPRESSION_REASONS, type Suppression } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../time-text.ts'
import { type Operation, operation } from './operation.ts'
import { Count, Offset, pageOf } from './shapes.ts'
import { csvOf, rowsOf } from './suppression-csv.ts'

const Values = (what: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], { description: `${what}, a list or text with commas` })
const Group = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'an unsubscribe group' })
const Reason = Type.Enum([...SUPPRESSION_REASONS])

const Named = Type.Object({
  email: Type.Optional(Values('addresses')),
  domain: Type.Optional(Values('domains')),
  group: Type.Optional(Group),
})

const Entry = Type.Object({
  email: Type.Optional(Type.String()),
  domain: Type.Optional(Type.String()),
  type: Type.Enum(['email', 'domain', 'group']),
  group: Type.Optional(Type.Integer()),
  reason: Reason,
  addedTime: Type.String({ description: 'yyyy-mm-dd hh:mm:ss, UTC' }),
})

const common = { group: 'Suppression', scope: 'suppressions' } as const
const refusals = ['suppressionEmailInvalid', 'suppressionDomainInvalid'] as const

/** Contract section 9. */
export const SUPPRESSIONS: readonly Operation[] = [
  operation({
    ...common,
    name: 'addSuppression',
    creates: true,
    summary: 'Do not send to these addresses and domains any more; all are added or none',
    routes: [['/suppression', 'POST']],
    input: Type.Object({ ...Named.properties, reason: Type.Optional(Type.Enum([...ACCOUNT_REASONS])) }),
    answer: Type.Object({ added: Type.Integer({ description: 'how many were new' }) }),
    errors: refusals,
    example: { input: { email: 'x@harbor.example,y@harbor.example', domain: 'spam.example' }, data: { added: 3 } },
    act: async ({ reason = 'manual', ...input }, { core, principal, by }) => ({
      data: {
        added: await core.suppressions.addAll({ ...namedIn(input), reason, accountId: principal.account.id, by }),
      },
    }),
  }),
  operation({
    ...common,
    name: 'removeSuppression',
    summary: 'Send to these addresses and domains again, as far as this list is concerned',
    routes: [
      ['/suppression', 'DELETE'],
      ['/suppression/remove', 'POST', 'DELETE'],
    ],
    input: Named,
    answer: Type.Object({ removed: Type.Integer({ description: 'how many were there' }) }),
    errors: refusals,
    example: { input: { email: 'x@harbor.example' }, data: { removed: 1 } },
    act: async (input, { core, principal, by }) => ({
      data: { removed: await core.suppressions.removeAll({ ...namedIn(input), accountId: principal.account.id, by }) },
    }),
  }),
  operation({
    ...common,
    name: 'listSuppressions',
    summary: 'The list of suppressions, in alphabetical order, or those of certain addresses, domains or reasons',
    routes: [
      ['/suppression', 'GET'],
      ['/getSuppression', 'GET', 'POST'],
    ],
    input: Type.Object({
      ...Named.properties,
      reason: Type.Optional(Reason),
      limit: Count('at most 1000; 100 unless told'),
      offset: Offset,
    }),
    answer: Type.Array(Entry),
    errors: refusals,
    example: {
      input: { reason: 'manual', limit: 100, offset: 0 },
      data: [{ email: 'a@x.test', type: 'email', reason: 'manual', addedTime: '2026-01-05 10:11:12' }],
    },
    async act({ email, domain, limit, offset, ...filter }, { core, principal }) {
      const page = pageOf({ limit, offset }, { byDefault: 100, most: 1000 })
      const asked = { ...valuesIn({ email, domain }), ...filter, ...page }
      const { suppressions, total } = await core.suppressions.list(principal.account.id, asked)
      return { data: suppressions.map(shown), totalRecords: total }
    },
  }),
  operation({
    ...common,
    name: 'checkSuppression',
    summary: 'Would a message to this address be sent? If not, what holds it; the first says why it would be dropped',
    routes: [['/suppression/check', 'POST', 'GET']],
    input: Type.Object({
      email: Type.String(),
      group: Type.Optional(Type.Integer({ ...Group, description: 'the unsubscribe group the message would name' })),
    }),
    answer: Type.Object({
      email: Type.String(),
      suppressed: Type.Boolean(),
      heldBy: Type.Array(
        Type.Object({
          scope: Type.Enum(['address', 'domain', 'group', 'global'], {
            description: "global: the operator's, for all accounts; only the operator can lift it",
          }),
          value: Type.String({ description: 'the address or the domain that is on the list' }),
          group: Type.Optional(Type.Integer()),
          reason: Reason,
          since: Type.String({ description: 'yyyy-mm-dd hh:mm:ss, UTC' }),
        }),
      ),
    }),
    errors: ['suppressionEmailInvalid'],
    example: {
      input: { email: 'x@harbor.example' },
      data: {
        ...{ email: 'x@harbor.example', suppressed: true },
        heldBy: [{ scope: 'domain', value: 'harbor.example', reason: 'manual', since: '2026-01-05 10:11:12' }],
      },
    },
    async act({ email, group }, { core, principal }) {
      const found = await core.suppressions.holding(principal.account.id, email, group)
      const heldBy = found.map(({ scope, value, group: own, reason, since, global }) => ({
        ...{ scope: global ? ('global' as const) : scope, value, reason, since: timeText(since) },
        ...(own > 0 ? { group: own } : {}),
      }))
      return { data: { email, suppressed: heldBy.length > 0, heldBy } }
    },
  }),
  operation({
    ...common,
    name: 'importSuppressions',
    creates: true,
    summary: 'Add a list of any length as CSV: columns email or domain, and reason, since, group if wanted',
    routes: [['/suppression/import', 'POST']],
    takes: 'text/csv',
    input: Type.Object({
      atomic: Type.Optional(Type.Boolean({ description: 'true: add nothing when a row is wrong' })),
    }),
    answer: Type.Object({
      rows: Type.Integer(),
      added: Type.Integer({ description: 'how many entries were new' }),
      known: Type.Integer({ description: 'how many were there before, or came twice' }),
      wrong: Type.Integer({ description: 'how many rows are wrong and were left out' }),
      problems: Type.Array(Type.Object({ line: Type.Integer(), problem: Type.String() }), {
        description: 'the first hundred of them',
      }),
    }),
    errors: ['suppressionImportRefused', 'csvInvalid'],
    example: {
      input: { atomic: false },
      data: {
        ...{ rows: 3, added: 1, known: 1, wrong: 1 },
        problems: [{ line: 3, problem: 'Invalid email address' }],
      },
    },
    async act({ atomic = false }, { core, principal, by, request }) {
      if (!(request.body instanceof Readable)) throw new ServiceError('bodyBlank')
      const rows = rowsOf(request.body)
      const report = await core.suppressions.import({ accountId: principal.account.id, by, rows, atomic })
      return { data: { ...report, problems: [...report.problems] } }
    },
  }),
  operation({
    ...common,
    name: 'exportSuppressions',
    summary: 'The whole list as CSV, which an import takes',
    routes: [['/suppression/export', 'GET', 'POST']],
    gives: ['text/csv'],
    input: Type.Object({}),
    answer: Type.String(),
    errors: [],
    example: {
      input: {},
      data: 'email,domain,reason,since,group\r\na@x.test,,manual,"2026-01-05 10:11:12",\r\n',
    },
    act: async (_input, { core, principal }) => ({
      stream: Readable.from(csvOf(core.suppressions.pages(principal.account.id)), { objectMode: false }),
      fileName: 'suppressions.csv',
    }),
  }),
]

type NamedIn = Static<typeof Named>

/** What a change names. Throws bodyBlank where there is nothing at all (contract section 3: 110 before 113). */
function namedIn(input: NamedIn) {
  if (Object.keys(input).length === 0) throw new ServiceError('bodyBlank')
  const { group } = input
  return { ...valuesIn(input), ...(group === undefined ? {} : { group }) }
}

type Given = string | readonly string[] | undefined

function valuesIn({ email, domain }: { readonly email?: Given; readonly domain?: Given }) {
  return { emails: listOf(email), domains: listOf(domain) }
}

/** More than core takes, so that it refuses them; blanks among fewer don't count. */
const PIECES = 20_000

/** Text may name several, between commas, or be one address that has commas within quotes (RFC 5321 4.1.2). */
function listOf(values: Given): readonly string[] {
  if (typeof values !== 'string') return values ?? []
  if (parseAddress(values)) return [values]
  const pieces = values.split(',', PIECES)
  return pieces.length < PIECES ? pieces.filter((piece) => piece.trim() !== '') : pieces
}

function shown({ scope, value, group, reason, since }: Suppression): Static<typeof Entry> {
  return {
    ...(scope === 'domain' ? { domain: value } : { email: value }),
    type: scope === 'address' ? 'email' : scope,
    ...(group > 0 ? { group } : {}),
    reason,
    addedTime: timeText(since),
  }
}
