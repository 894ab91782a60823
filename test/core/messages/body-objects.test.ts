import { randomBytes } from 'node:crypto'
import { type LoadedMessage, parseMessageId, ServiceError } from '@postrider/core'
import t from 'tap'
import { moveClock, stopClock } from '../../helpers/database.ts'
import { startObjectStorage } from '../../helpers/object-storage.ts'
import { makeService, makeServiceOn, type TestService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage, submissionOf } from '../submission.ts'

const storage = await startObjectStorage(t)
const service = await makeService(t, storage.settings)
const sender = await service.makeSender()

/** 200 kB that do not shrink, and 100 kB that do. */
const PHOTO = randomBytes(200_000)
const LIST = 'Berth 4 is ready. '.repeat(6000)
const LARGE = {
  content: { kind: 'parts', html: `<p>${LIST}</p>`, text: undefined, amp: undefined },
  attachments: [{ fileName: 'photo.jpg', type: 'image/jpeg', content: PHOTO }],
} as const

interface Row {
  readonly part: number
  readonly encoding: string
  readonly length: number
  readonly object: number | null
}

async function rowsOf(messageId: string): Promise<Row[]> {
  return service.sql<Row[]>`
    select part, encoding, octet_length(content) as length, object_length as object from bodies
     where message_id = ${parseMessageId(messageId) ?? ''}::uuid order by part`
}

async function load(messageId: string, { core }: Pick<TestService, 'core'> = service): Promise<LoadedMessage> {
  const message = [...(await core.messages.load([parseMessageId(messageId) ?? ''])).values()][0] as LoadedMessage
  return message.parts ? message : core.messages.loadParts(message)
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

t.beforeEach(() => {
  storage.react = () => undefined
})

t.test('a large body is one object, which cannot be read without the row, and is loaded octet for octet', async (t) => {
  const before = storage.objects.size
  const { messageId } = await acceptMessage(service, sender, LARGE)
  t.equal(storage.objects.size, before + 1)
  const [key = '', object = Buffer.alloc(0)] = [...storage.objects].at(-1) ?? []
  t.match(key, new RegExp(`^bodies/\\d{4}-\\d\\d-\\d\\d/${sender.accountId}/${messageId}$`))
  const rows = await rowsOf(messageId)
  t.match(rows, [
    { part: 0, encoding: 'deflate', length: 32 },
    { part: 1, encoding: 'raw', length: 32, object: PHOTO.length + 16 },
  ])
  t.equal(
    rows.reduce((sum, row) => sum + (row.object ?? 0), 0),
    object.length,
  )
  t.notOk(object.includes(PHOTO.subarray(0, 64)), 'it is encrypted')
  const { parts } = await load(messageId)
  t.ok(parts?.get(1)?.equals(PHOTO))
  t.match(JSON.parse(parts?.get(0)?.toString() ?? ''), { html: LARGE.content.html, subject: 'Berth 4' })
  const shown = await service.core.messages.attachment({ accountId: sender.accountId, messageId, index: 0 })
  t.ok(PHOTO.equals(shown.content))
})

t.test('a small body stays in the database, and the storage is not asked', async (t) => {
  const asked = storage.requests.length
  const { messageId } = await acceptMessage(service, sender)
  t.match(await rowsOf(messageId), [{ part: 0, object: null }])
  t.ok((await load(messageId)).parts)
  t.equal(storage.requests.length, asked)
})

t.test('the object is durable before the transaction begins, and none is open while it is stored', async (t) => {
  let stored = false
  storage.react = async () => {
    // Others are open for moments: of the checks of readiness, of the note that a key was used, of autovacuum.
    const noneOpen = async () => {
      const [row] = await service.sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`
      return row?.count === 0
    }
    await until('no transaction to be open', noneOpen, 5000).catch((error: Error) => t.fail(error.message))
    t.strictSame([...(await service.sql`select from messages where subject = 'In order'`)], [])
    stored = true
    return undefined
  }
  await acceptMessage(service, sender, { ...LARGE, subject: 'In order' })
  t.ok(stored)
})

t.test(
  'while the storage is down, large mail is refused for now and small mail is accepted; then both are',
  async (t) => {
    storage.react = () => ({ status: 503, code: 'ServiceUnavailable' })
    const [before] = await service.sql`select count(*)::int as count from messages`
    for (let call = 1; call <= 4; call++) {
      const error = await failure(acceptMessage(service, sender, LARGE))
      t.ok(error instanceof ServiceError && error.errorName === 'bodyStoreUnavailable')
      t.match(error, {
        row: { status: 503, smtp: { code: 451, enhanced: '4.3.0' } },
        message: 'Messages of this size cannot be stored or read at the moment, try again later',
        reason: /^object storage at http.* answered 503 ServiceUnavailable$/,
      })
    }
    t.match(service.core.readiness.current(), {
      ready: true,
      notes: [/^large messages are refused: object storage at/],
    })
    t.same(await service.sql`select count(*)::int as count from messages`, [before], 'nothing is half accepted')
    await acceptMessage(service, sender)
    storage.react = () => undefined
    const { messageId } = await until('large mail to be accepted', () =>
      acceptMessage(service, sender, LARGE).catch(() => undefined),
    )
    t.ok((await load(messageId)).parts?.get(1)?.equals(PHOTO))
    t.strictSame(service.core.readiness.current(), { ready: true, reasons: [] })
  },
)

t.test('a message that could not be stored takes nothing of the limit of its key', async (t) => {
  await stopClock(service.sql)
  const { secret: apiKey } = await service.core.auth.createKey({
    accountId: sender.accountId,
    restrictions: { recipientsPerHour: 3 },
  })
  const limited = { ...sender, apiKey }
  const refusalOf = async (): Promise<string | undefined> => {
    const error = await acceptMessage(service, limited, LARGE).then(
      () => undefined,
      (error: ServiceError) => error,
    )
    return error?.errorName
  }
  storage.react = () => ({ status: 503, code: 'ServiceUnavailable' })
  for (let call = 1; call <= 5; call++) t.equal(await refusalOf(), 'bodyStoreUnavailable')
  storage.react = () => undefined
  await until('the storage to be used again', async () => (await refusalOf()) === undefined)
  t.strictSame([await refusalOf(), await refusalOf(), await refusalOf()], [undefined, undefined, 'rateLimited'])
  await moveClock(service.sql, '0 hours')
})

t.test('storage that has just failed is not waited for by each call', async (t) => {
  storage.react = () => 'reset'
  while (!(service.core.readiness.current().notes ?? []).length) await failure(acceptMessage(service, sender, LARGE))
  let asked = 0
  storage.react = () => {
    asked++
    return 'reset'
  }
  const submission = await submissionOf(service, sender, LARGE)
  const began = performance.now()
  await Promise.all(Array.from({ length: 50 }, () => failure(service.core.messages.accept(submission))))
  const seconds = Math.ceil((performance.now() - began) / 1000)
  // At most one probe a second, of three tries.
  t.ok(asked <= 3 * seconds, `${asked} requests in ${seconds} s`)
  storage.react = () => undefined
  await until('the storage to be used again', () => acceptMessage(service, sender, LARGE).catch(() => undefined))
})

t.test(
  'a body that is missing, cut or altered in the storage is never delivered, nor one of another message',
  async (t) => {
    const { messageId } = await acceptMessage(service, sender, LARGE)
    const [key, object] = [...storage.objects].at(-1) as [string, Buffer]
    const { messageId: other } = await acceptMessage(service, sender, LARGE)
    const [, foreign] = [...storage.objects].at(-1) as [string, Buffer]
    t.not(other, messageId)
    const altered = Buffer.from(object)
    altered[1000] = (altered[1000] ?? 0) ^ 1
    for (const [content, text] of [
      [altered, /was changed in the object storage/],
      [object.subarray(0, -1), /was changed in the object storage/],
      [foreign, /was changed in the object storage/],
      [Buffer.concat([object, Buffer.from('x')]), /was changed in the object storage/],
      [undefined, /is missing from the object storage/],
    ] as const) {
      if (content) storage.objects.set(key, content)
      else storage.objects.delete(key)
      t.match(await failure(load(messageId)), { name: 'DamagedBody', message: text })
    }
    t.match(await failure(service.core.messages.source({ accountId: sender.accountId, messageId })), {
      errorName: 'messageBodyUnreadable',
    })
  },
)

t.test('while a body cannot be read, delivery and the pages that show it report so', async (t) => {
  const { messageId } = await acceptMessage(service, sender, LARGE)
  storage.react = ({ method }) => (method === 'GET' ? { status: 403, code: 'AccessDenied' } : undefined)
  t.match(await failure(load(messageId)), { name: 'BodyUnavailable', cause: { message: /grant s3:GetObject/ } })
  t.match(await failure(service.core.messages.source({ accountId: sender.accountId, messageId })), {
    errorName: 'bodyStoreUnavailable',
  })
  storage.react = () => undefined
  t.ok((await load(messageId)).parts)
})

t.test('a process without BODY_STORE does not take a body in the storage for a damaged one', async (t) => {
  const { messageId } = await acceptMessage(service, sender, LARGE)
  const other = await makeServiceOn(t, {
    url: service.config.databaseUrl ?? '',
    sql: service.sql,
    drop: async () => {},
  })
  t.match(await failure(load(messageId, other)), {
    name: 'BodyUnavailable',
    cause: { message: /BODY_STORE is not set/ },
  })
})

t.test('a message that is sent again has an object of its own', async (t) => {
  const { messageId } = await acceptMessage(service, sender, LARGE)
  const principal = await service.core.auth.authenticate(sender.apiKey, '127.0.0.1')
  const again = await service.core.messages.resend({
    principal,
    clientAddress: '127.0.0.1',
    messageId,
    recipientNos: undefined,
    idempotencyKey: undefined,
    fingerprint: undefined,
  } as Parameters<typeof service.core.messages.resend>[0])
  t.ok(storage.objects.has([...storage.objects.keys()].find((key) => key.endsWith(again.messageId)) ?? ''))
  t.ok((await load(again.messageId)).parts?.get(1)?.equals(PHOTO))
})
