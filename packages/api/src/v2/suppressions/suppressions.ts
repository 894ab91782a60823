import { Readable } from 'node:stream'
import {
  ACCOUNT_REASONS,
  defined,
  parseAddress,
  readSuppressionCsv,
  ServiceError,
  SUPPRESSION_REASONS,
  SUPPRESSION_RULES,
  type Suppression,
  type SuppressionCause,
  suppressionCsv,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'

const Values = (what: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], { description: `${what}, as a list or comma-separated` })
const Group = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'id of an unsubscribe group' })
const Reason = Type.Enum([...SUPPRESSION_REASONS])

const Named = Type.Object({
  email: Type.Optional(Values('addresses')),
  domain: Type.Optional(Values('domains')),
  group: Type.Optional(Group),
})

/** Additional to the contract, like the calls that read the list. */
export const Cause = Type.Object(
  {
    rule: Type.Enum([...SUPPRESSION_RULES]),
    class: Type.Optional(Type.String({ description: 'the bounce class, or the type of the complaint' })),
    messageId: Type.String(),
  },
  { description: 'what made the entry; absent if it was added by a call' },
)

const Entry = Type.Object({
  email: Type.Optional(Type.String()),
  domain: Type.Optional(Type.String()),
  type: Type.Enum(['email', 'domain', 'group']),
  group: Type.Optional(Type.Integer()),
  reason: Reason,
  addedTime: Type.String({ description: 'yyyy-mm-dd hh:mm:ss, UTC' }),
  cause: Type.Optional(Cause),
})

const common = { group: 'Suppression', scope: 'suppressions' } as const
/** Without its group, a suppression is one of all mail. */
const narrowed = { ...common, narrows: true } as const
const refusals = ['suppressionEmailInvalid', 'suppressionDomainInvalid'] as const

/** Contract section 9. */
export const SUPPRESSIONS: readonly Operation[] = [
  operation({
    ...narrowed,
    name: 'addSuppression',
    creates: true,
    summary: 'Suppress addresses and domains. Either all are added or none',
    cli: 'suppression add',
    routes: [['/suppression', 'POST']],
    input: Type.Object({ ...Named.properties, reason: Type.Optional(Type.Enum([...ACCOUNT_REASONS])) }),
    answer: Type.Object({ added: Type.Integer({ description: 'number of new entries' }) }),
    errors: refusals,
    example: { input: { email: 'x@harbor.example,y@harbor.example', domain: 'spam.example' }, data: { added: 3 } },
    act: async ({ reason = 'manual', ...input }, { core, principal, by }) => ({
      data: {
        added: await core.suppressions.addAll({ ...namedIn(input), reason, accountId: principal.account.id, by }),
      },
    }),
  }),
  operation({
    ...narrowed,
    name: 'removeSuppression',
    summary: 'Remove addresses and domains from the list',
    cli: 'suppression remove',
    routes: [
      ['/suppression', 'DELETE'],
      ['/suppression/remove', 'POST', 'DELETE'],
    ],
    input: Named,
    answer: Type.Object({ removed: Type.Integer({ description: 'number of entries removed' }) }),
    errors: refusals,
    example: { input: { email: 'x@harbor.example' }, data: { removed: 1 } },
    act: async (input, { core, principal, by }) => ({
      data: { removed: await core.suppressions.removeAll({ ...namedIn(input), accountId: principal.account.id, by }) },
    }),
  }),
  operation({
    ...common,
    name: 'listSuppressions',
    summary: 'List suppressions alphabetically, optionally filtered by address, domain or reason',
    cli: 'suppression list',
    routes: [
      ['/suppression', 'GET'],
      ['/getSuppression', 'GET', 'POST'],
    ],
    input: Type.Object({
      ...Named.properties,
      reason: Type.Optional(Reason),
      limit: Count('at most 1000; default 100'),
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
      const query = { ...valuesIn({ email, domain }), ...filter, ...page }
      const { suppressions, total } = await core.suppressions.list(principal.account.id, query)
      return { data: suppressions.map(shown), totalRecords: total }
    },
  }),
  operation({
    ...common,
    name: 'checkSuppression',
    summary:
      'Check whether an address is suppressed, and by which entries. The first entry gives the reason of the drop',
    cli: 'suppression show',
    routes: [['/suppression/check', 'POST', 'GET']],
    input: Type.Object({
      email: Type.String(),
      group: Type.Optional(Type.Integer({ ...Group, description: 'unsubscribe group of the message' })),
    }),
    answer: Type.Object({
      email: Type.String(),
      suppressed: Type.Boolean(),
      heldBy: Type.Array(
        Type.Object({
          scope: Type.Enum(['address', 'domain', 'group', 'global'], {
            description: 'global: set by the operator for all accounts; only the operator can remove it',
          }),
          value: Type.String({ description: 'the listed address or domain' }),
          group: Type.Optional(Type.Integer()),
          reason: Reason,
          since: Type.String({ description: 'yyyy-mm-dd hh:mm:ss, UTC' }),
          cause: Type.Optional(Cause),
        }),
      ),
    }),
    errors: ['suppressionEmailInvalid'],
    example: {
      input: { email: 'x@harbor.example' },
      data: {
        email: 'x@harbor.example',
        suppressed: true,
        heldBy: [{ scope: 'domain', value: 'harbor.example', reason: 'manual', since: '2026-01-05 10:11:12' }],
      },
    },
    async act({ email, group }, { core, principal }) {
      const found = await core.suppressions.holding(principal.account.id, email, group)
      const heldBy = found.map(({ scope, value, group: own, reason, since, global, cause }) => ({
        scope: global ? ('global' as const) : scope,
        value,
        reason,
        since: timeText(since),
        ...(own > 0 ? { group: own } : {}),
        ...causeOf(cause),
      }))
      return { data: { email, suppressed: heldBy.length > 0, heldBy } }
    },
  }),
  operation({
    ...common,
    name: 'importSuppressions',
    creates: true,
    summary:
      'Import a list of any length as CSV: with the column email or domain, and optionally reason, since, group; or as another provider exports it',
    cli: 'suppression import',
    routes: [['/suppression/import', 'POST']],
    takes: 'text/csv',
    input: Type.Object({
      atomic: Type.Optional(Type.Boolean({ description: 'true: reject the whole import if a row is invalid' })),
    }),
    answer: Type.Object({
      rows: Type.Integer(),
      added: Type.Integer({ description: 'number of new entries' }),
      known: Type.Integer({ description: 'number of entries that already existed or were repeated' }),
      wrong: Type.Integer({ description: 'number of invalid rows, which were skipped' }),
      problems: Type.Array(Type.Object({ line: Type.Integer(), problem: Type.String() }), {
        description: 'the first hundred invalid rows',
      }),
    }),
    errors: ['suppressionImportRefused', 'csvInvalid'],
    example: {
      input: { atomic: false },
      data: {
        rows: 3,
        added: 1,
        known: 1,
        wrong: 1,
        problems: [{ line: 3, problem: 'Invalid email address' }],
      },
    },
    async act({ atomic = false }, { core, principal, by, request }) {
      if (!(request.body instanceof Readable)) throw new ServiceError('bodyBlank')
      const rows = readSuppressionCsv(request.body)
      const report = await core.suppressions.import({ accountId: principal.account.id, by, rows, atomic })
      return { data: { ...report, problems: [...report.problems] } }
    },
  }),
  operation({
    ...common,
    name: 'exportSuppressions',
    summary: 'Export the whole list as CSV, in the format of an import',
    cli: 'suppression export',
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
      stream: Readable.from(suppressionCsv(core.suppressions.pages(principal.account.id)), { objectMode: false }),
      fileName: 'suppressions.csv',
    }),
  }),
]

type NamedIn = Static<typeof Named>

/** Returns the entries named by a change. Throws bodyBlank if the body is empty (contract section 3: 110 before 113). */
function namedIn(input: NamedIn) {
  if (Object.keys(input).length === 0) throw new ServiceError('bodyBlank')
  const { group } = input
  return { ...valuesIn(input), ...defined({ group }) }
}

type Given = string | readonly string[] | undefined

function valuesIn({ email, domain }: { readonly email?: Given; readonly domain?: Given }) {
  return { emails: listOf(email), domains: listOf(domain) }
}

/** More than core accepts, so that core rejects them; blank entries among fewer do not count. */
const MAX_PIECES = 20_000

/** Text may contain several addresses separated by commas, or one address with commas within quotes (RFC 5321 4.1.2). */
function listOf(values: Given): readonly string[] {
  if (typeof values !== 'string') return values ?? []
  if (parseAddress(values)) return [values]
  const pieces = values.split(',', MAX_PIECES)
  return pieces.length < MAX_PIECES ? pieces.filter((piece) => piece.trim() !== '') : pieces
}

/** Without the report, which belongs to the operator. */
export function causeOf(cause: SuppressionCause | null): { cause?: Static<typeof Cause> } {
  if (!cause) return {}
  const { rule, class: of, messageId } = cause
  return { cause: { rule, ...(of === null ? {} : { class: of }), messageId } }
}

function shown({ scope, value, group, reason, since, cause }: Suppression): Static<typeof Entry> {
  return {
    ...(scope === 'domain' ? { domain: value } : { email: value }),
    type: scope === 'address' ? 'email' : scope,
    ...(group > 0 ? { group } : {}),
    reason,
    addedTime: timeText(since),
    ...causeOf(cause),
  }
}
