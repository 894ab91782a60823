import type { Edit } from './copy.ts'

/** The changes that the recipes are tried with. */

const ROW = `  operation({
    name: 'listAuditObjects',
    summary: 'List the objects that were changed, oldest change first',
    cli: 'audit list',
    group: 'Audit',
    scope: 'audit',
    routes: [['/audit/objects', 'GET', 'POST']],
    input: Type.Object({ limit: Count('at most 1000; default 100') }),
    answer: Type.Array(Type.String()),
    errors: [],
    example: { input: { limit: 100 }, data: ['template 12'] },
    act: async (input, { core, principal }) => {
      const { limit } = pageOf(input, { byDefault: 100, most: 1000 })
      const entries = await core.audit.list(principal.account.id, { after: 0, limit })
      return { data: entries.map(({ object }) => object) }
    },
  }),
`

const OPERATION_TEST = `import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

t.test('listAuditObjects answers what was changed', async (t) => {
  const service = await makeService(t)
  const { accountId, apiKey } = await service.makeSender()
  await service.sql\`select audit_note(\${accountId}, null, null, 'template.create', 'template 12', null, null)\`
  const { json } = await call(await service.openApi(), {
    method: 'GET',
    path: '/v2/audit/objects',
    headers: { api_key: apiKey },
  })
  t.equal((json?.data as string[]).at(-1), 'template 12')
})
`

/** What is derived from the row, tried for this operation alone: OpenAPI, 405, the wall between accounts and the recorded call. */
const OPERATION_CHECK = `import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { call } from './call.ts'
import { createRecorder } from './recorded/recorder.ts'
import { recordExamples } from './recorded/v2-row.ts'
import { makeWorld } from './recorded/world.ts'
import { refusedCallers, tryWall } from './try-wall.ts'
import { createCaller } from './v2/wall/caller.ts'
import type { WallEntry } from './v2/wall/entry.ts'
import { wallEntryOf } from './v2/wall/index.ts'

const added = OPERATIONS.filter(({ name }) => name === 'listAuditObjects')

t.test('what is derived from the row', async (t) => {
  const world = await makeWorld(t)
  const { service, base, normalize } = world
  const { ask, act } = createCaller(base)
  const [owner, stranger] = [await service.makeSender(), await service.makeSender()]
  t.equal(added.length, 1)
  const refusedFor = await refusedCallers(service, owner)
  for (const operation of added) {
    const { name, scope } = operation
    const entry = wallEntryOf(operation) as WallEntry
    await tryWall(t, { name, entry, setting: { service, act }, ask, owner, strangers: { stranger }, refused: refusedFor(scope) })
  }
  const recorder = createRecorder({ base, normalize, usual: {} })
  await recordExamples(recorder, world, await world.makeOwner('recipe'), added)
  t.ok(recorder.calls.some(({ path, status }) => path.startsWith('/v2/audit/objects') && status === 200))
  t.match(recorder.text(), /# listAuditObjects without a key/)
  t.match((await call(base, { method: 'GET', path: '/openapi.json' })).text, '"operationId":"listAuditObjects"')
  t.equal((await call(base, { method: 'DELETE', path: '/v2/audit/objects' })).status, 405)
})
`

export const OPERATION = {
  row: ['packages/api/src/v2/accounts/audit.ts', ROW, ']\n\nfunction shown('],
  test: ['test/api/v2/audit-objects.test.ts', OPERATION_TEST],
  page: ['docs/domains.md', '`GET /v2/audit/objects` lists the objects that were changed.\n\n', '## States'],
  check: ['test/api/added-operation.ts', OPERATION_CHECK],
} as const satisfies Readonly<Record<string, Edit>>

export const BOUNCE_WORDING = {
  rule: [
    'packages/core/src/delivery/outcomes/bounce-rules.ts',
    "  { class: 'moved', text: /\\bquay of \\w{1,64} is closed\\b/i },\n",
    '  // Before the wordings of unknown users: a mailbox that is full exists.\n',
  ],
  test: [
    'test/delivery/bounce-class.test.ts',
    "    '550 The quay of lena is closed',\n",
    "    '551 5.1.6 lena has moved to lena@quay.example'",
  ],
} as const satisfies Readonly<Record<string, Edit>>

const RULE_TEST = `import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { mail, openSession } from '../../relay/session.ts'
import { call, JSON_TYPE } from '../call.ts'
import { mailBody } from '../v3/mail.ts'

t.test('a subject of exclamation marks alone is rejected by every entry point', async (t) => {
  const service = await makeService(t)
  await service.openRelay()
  const [url, sender] = [await service.openApi(), await service.makeSender()]
  const wrong = /subject.*must not be exclamation marks alone/i
  const v2 = await call(url, {
    path: '/v2/sendEmail',
    headers: { api_key: sender.apiKey },
    body: {
      personalizations: [{ recipient: 'lena@harbor.example' }],
      from: { fromEmail: \`desk@\${sender.domain}\` },
      subject: '!!!',
      content: '<p>Your berth is ready.</p>',
    },
  })
  t.match(v2, { status: 400, text: wrong })
  const headers = { authorization: \`Bearer \${sender.apiKey}\`, ...JSON_TYPE }
  const v3 = await call(url, { path: '/v3/mail/send', headers, body: mailBody(sender, { subject: '!!!' }) })
  t.match(v3, { status: 400, text: wrong })
  const client = await openSession(t, service, sender)
  const data = mail(sender).replace('Subject: Berth 4', 'Subject: !!!')
  t.match(await client.submit(\`desk@\${sender.domain}\`, 'lena@harbor.example', data), wrong)
})
`

export const RULE = {
  rule: [
    'packages/core/src/messages/rules/rules.ts',
    `  {
    name: 'a subject is not exclamation marks alone',
    entryPoints: EVERY,
    check: ({ subject, nameOf }) => {
      if (/^!+$/.test(subject ?? '')) throw invalidParameter(nameOf('subject'), 'must not be exclamation marks alone')
    },
  },
`,
    "  { name: 'nor do the detailed fields', entryPoints: EVERY, check: checkDetails },\n",
  ],
  test: ['test/api/v2/send-email-subject.test.ts', RULE_TEST],
} as const satisfies Readonly<Record<string, Edit>>

const MIGRATION = `-- expand
alter table events drop constraint events_type_check;
alter table events add constraint events_type_check check (type in (
  'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired', 'opened', 'clicked', 'unsubscribed', 'resubscribed',
  'complained', 'domain', 'account', 'domain_inactive', 'webhook_disabled', 'key_expiring', 'archived')) not valid;
`

const EVENT_ROW = `  archived: {
    meaning: 'The message was archived.',
    producers: [],
    v2: null,
    v3: null,
    log: { filter: null, statuses: [], indexed: false },
    exportKinds: [],
    countedAs: [],
    byReader: false,
    sample: {},
  },
`

export const EVENT_TYPE = {
  row: ['packages/core/src/events/event-types.ts', EVENT_ROW, '  domain: {\n    meaning: '],
  migration: ['sql/9999_archived_events.sql', MIGRATION],
  page: ['docs/events.md', 'The feed also has `archived`.\n\n', '## The log\n'],
} as const satisfies Readonly<Record<string, Edit>>

const COLUMN_CHECK = `import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { acceptMessage } from './submission.ts'

t.test('a message is stored with the added column', async (t) => {
  const service = await makeService(t)
  const { messageId } = await acceptMessage(service, await service.makeSender())
  const [row] = await service.sql\`select origin from messages where id = \${messageId}::uuid\`
  t.equal(row?.origin, 'recipe')
})
`

/** A column that is written when a message is accepted. */
export const COLUMN = {
  migration: ['sql/9998_origins.sql', '-- expand\nalter table messages add column origin text;\n'],
  column: [
    'packages/core/src/messages/message-columns.ts',
    "  origin: { type: 'text', of: () => 'recipe' },\n",
    "  format: { type: 'text'",
  ],
  check: ['test/core/added-column.ts', COLUMN_CHECK],
} as const satisfies Readonly<Record<string, Edit>>
