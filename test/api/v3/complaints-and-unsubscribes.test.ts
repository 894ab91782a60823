import t from 'tap'
import { erase } from '../../helpers/erase.ts'
import { makeService } from '../../helpers/service.ts'
import { ask } from './ask.ts'

const service = await makeService(t)
const { suppressions } = service.core
const url = await service.openApi()
const ADA = 'ada@example.org'

/** A new account, and what v3 shows of its lists. */
async function makeLists() {
  const { accountId, apiKey } = await service.makeSender()
  const call = (method: 'GET' | 'DELETE', path: string) => ask(url, { method, path, key: apiKey })
  const listed = async (list: string): Promise<string[]> => {
    const found = (await call('GET', `/suppression/${list}`)).json as unknown as { email: string }[]
    return found.map(({ email }) => email)
  }
  const add = (reason: 'abuse' | 'unsubscribe') => suppressions.addAll({ accountId, emails: [ADA], reason })
  const importOne = async (reason: string) => {
    const rows = (async function* () {
      yield [{ line: 1, email: ADA, reason, since: '2026-01-05' }]
    })()
    await suppressions.import({ accountId, by: { keyId: null, address: null }, rows, atomic: true })
  }
  const global = async () => (await call('GET', `/asm/suppressions/global/${ADA}`)).json
  return { accountId, call, listed, add, importOne, global }
}

type Lists = Awaited<ReturnType<typeof makeLists>>

const WAYS: Readonly<Record<string, (lists: Lists) => Promise<unknown>>> = {
  'unsubscribed, then complained': async ({ add }) => [await add('unsubscribe'), await add('abuse')],
  'complained, then unsubscribed': async ({ add }) => [await add('abuse'), await add('unsubscribe')],
  'lists imported one after the other': async ({ importOne }) => [
    await importOne('unsubscribe'),
    await importOne('abuse'),
  ],
}

for (const [way, make] of Object.entries(WAYS)) {
  t.test(`who complained and unsubscribed is on both lists until removed from either: ${way}`, async (t) => {
    const lists = await makeLists()
    const { accountId, call, global, listed } = lists
    await suppressions.addAll({ accountId, emails: ['abe@example.org', 'zoe@example.org'], reason: 'unsubscribe' })
    const others = ['abe@example.org', 'zoe@example.org']
    await make(lists)
    t.strictSame(await listed('spam_reports'), [ADA])
    t.strictSame(await listed('unsubscribes'), ['abe@example.org', ADA, 'zoe@example.org'])
    t.strictSame(await listed('unsubscribes?email=ada'), [ADA])
    t.strictSame(await listed('unsubscribes?limit=1&offset=1'), [ADA])
    t.strictSame(await listed('unsubscribes?end_time=1000000000'), [])
    t.strictSame(await listed(`unsubscribes/${ADA}`), [ADA])
    t.strictSame(await global(), { recipient_email: ADA })
    t.equal(await suppressions.countBrowsed(accountId, { reasons: ['unsubscribe'], group: 0, limit: 1, offset: 0 }), 3)

    t.equal((await call('DELETE', `/asm/suppressions/global/${ADA}`)).status, 204)
    t.strictSame(await listed('spam_reports'), [ADA])
    t.strictSame(await listed('unsubscribes'), others)
    t.strictSame(await global(), {})

    await suppressions.removeAll({ accountId, emails: [ADA] })
    await make(lists)
    t.equal((await call('DELETE', `/suppression/spam_reports/${ADA}`)).status, 204)
    t.strictSame(await listed('spam_reports'), [])
    t.strictSame(await listed('unsubscribes'), ['abe@example.org', ADA, 'zoe@example.org'])
  })
}

t.test('the complaint of an erased recipient stays when the unsubscribe is removed', async (t) => {
  const { accountId, add, call, global } = await makeLists()
  await add('unsubscribe')
  await add('abuse')
  await erase(service.core, accountId, [ADA])
  t.strictSame(await global(), { recipient_email: ADA })
  t.equal((await call('DELETE', `/asm/suppressions/global/${ADA}`)).status, 204)
  t.match(await suppressions.holding(accountId, ADA), [{ reason: 'abuse', unsubscribed: false }])
  t.strictSame(await global(), {})
})
