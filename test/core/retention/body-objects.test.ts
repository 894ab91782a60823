import { randomBytes } from 'node:crypto'
import type { Submission } from '@postrider/core'
import t, { type Test } from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { erase } from '../../helpers/erase.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { type ObjectStorage, startObjectStorage } from '../../helpers/object-storage.ts'
import type { Sender, TestService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'
import { dropAt, finish, make as makeWith, tables } from './weeks.ts'

const OWNER = 'bodies/postrider-owner'

async function make(
  test: Test,
  settings: Record<string, string> = {},
): Promise<{ service: TestService; sender: Sender; storage: ObjectStorage }> {
  const storage = await startObjectStorage(test)
  return { storage, ...(await makeWith(test, { ...storage.settings, ...settings })) }
}

function large(extra: Partial<Submission> = {}): Partial<Submission> {
  return {
    attachments: [{ fileName: 'photo.jpg', type: 'image/jpeg', content: randomBytes(100_000) }],
    ...extra,
  }
}

/** The ids of the messages whose objects are stored. */
function stored({ objects }: ObjectStorage): string[] {
  return [...objects.keys()].filter((key) => key !== OWNER).map((key) => key.slice(-32))
}

async function removeAll({ core }: TestService): Promise<void> {
  while (await core.retention.removeSome());
}

async function sweepAll({ core }: TestService): Promise<void> {
  while (await core.retention.sweepSome());
}

t.test('an erased recipient’s bodies are removed from the storage, and those of others stay', async (t) => {
  const { service, sender, storage } = await make(t)
  const { messageId: hers } = await acceptMessage(service, sender, large())
  const { messageId: his } = await acceptMessage(
    service,
    sender,
    large({ envelopes: [envelopeTo('nils@harbor.example')] }),
  )
  await finish(service)
  await erase(service.core, sender.accountId, ['lena@harbor.example'])
  await removeAll(service)
  t.same(stored(storage), [his])
  t.not(hers, his)
  t.same(await service.sql`select from object_removals`, [])
})

t.test(
  'storage that is down loses no removal: the row and its key are gone at once, the object when it answers again',
  async (t) => {
    const { service, sender, storage } = await make(t)
    const { messageId } = await acceptMessage(service, sender, large())
    await finish(service)
    storage.react = () => ({ status: 503, code: 'ServiceUnavailable' })
    await erase(service.core, sender.accountId, ['lena@harbor.example'])
    t.same(await service.sql`select from bodies`, [], 'nobody can read it any more')
    await t.rejects(service.core.retention.removeSome(), { name: 'ObjectStoreError', kind: 'unavailable' })
    t.same(stored(storage), [messageId])
    storage.react = () => undefined
    t.notOk(await service.core.retention.removeSome(), 'not before its time')
    await moveClock(service.sql, '6 minutes')
    await removeAll(service)
    t.same(stored(storage), [])
  },
)

t.test('the objects of a week are removed once its bodies are dropped, and not before', async (t) => {
  const { service, sender, storage } = await make(t)
  for (let count = 0; count < 3; count++) await acceptMessage(service, sender, large())
  await finish(service)
  await numberEvents(service)
  await dropAt(service, 29)
  await removeAll(service)
  t.equal(stored(storage).length, 3)
  // Those of another week stay. On a Sunday, the next one has ended, too, after 8 days.
  const later = new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10)
  storage.objects.set(`bodies/${later}/1/01a214c9efd570c6b9bfbe2679a14a2d`, Buffer.from('x'))
  await dropAt(service, 38)
  t.notOk((await tables(service)).includes('bodies'))
  await removeAll(service)
  t.same(stored(storage), ['01a214c9efd570c6b9bfbe2679a14a2d'])
})

t.test('an account with fewer days for bodies has its objects removed after them', async (t) => {
  const { service, sender, storage } = await make(t)
  const other = await service.makeSender()
  await service.sql`update accounts set body_days = 7 where id = ${sender.accountId}`
  await acceptMessage(service, sender, large())
  const { messageId: kept } = await acceptMessage(service, other, large())
  await finish(service)
  await numberEvents(service)
  await service.core.retention.shortenSome()
  await moveClock(service.sql, '8 days')
  while (await service.core.retention.shortenSome());
  await removeAll(service)
  t.same(stored(storage), [kept])
})

t.test('an object whose message was never stored is swept after its day, and no other one', async (t) => {
  const { service, sender, storage } = await make(t)
  const { messageId } = await acceptMessage(service, sender, large())
  // As if the process had died between the storage and the commit.
  await service.sql.unsafe(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
     create trigger fail before insert on messages for each row execute function fail()`,
  )
  await t.rejects(acceptMessage(service, sender, large()))
  await service.sql`drop trigger fail on messages`
  storage.objects.set(`bodies/${[...storage.objects.keys()][0]?.slice(7, 17)}/foreign`, Buffer.from('not a body'))
  t.equal(stored(storage).length, 3)
  await sweepAll(service)
  await removeAll(service)
  t.equal(stored(storage).length, 3, 'an accept may still be under way')
  await moveClock(service.sql, '31 hours')
  await sweepAll(service)
  await removeAll(service)
  t.same(
    stored(storage).filter((id) => /^[0-9a-f]{32}$/.test(id)),
    [messageId],
  )
  t.equal(stored(storage).length, 2, 'what is no body is not touched')
})

t.test(
  'a prefix with the bodies of another installation: nothing is removed, and the error says what to do',
  async (t) => {
    const { service, sender, storage } = await make(t)
    storage.objects.set(OWNER, Buffer.from('0198d3b4-0000-7000-8000-000000000000\n'))
    const { messageId } = await acceptMessage(service, sender, large())
    await finish(service)
    await erase(service.core, sender.accountId, ['lena@harbor.example'])
    await t.rejects(service.core.retention.removeSome(), { message: /bodies of another installation.*its own prefix/ })
    t.same(stored(storage), [messageId])
  },
)

t.test('without object storage nothing is noted', async (t) => {
  const { service, sender } = await makeWith(t)
  await acceptMessage(service, sender, large())
  await finish(service)
  await numberEvents(service)
  await dropAt(service, 38)
  t.notOk(await service.core.retention.removeSome())
  t.notOk(await service.core.retention.sweepSome())
  t.same(await service.sql`select key from object_removals union all select owner::text from object_sweep`, [])
})
