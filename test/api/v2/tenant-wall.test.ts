import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type Caller, refusedCallers, tryWall } from '../try-wall.ts'
import { createCaller } from './wall/caller.ts'
import type { Setting, WallEntry } from './wall/entry.ts'
import { ENTRIES, wallEntryOf } from './wall/index.ts'

/**
 * Nobody sees or changes another account's anything: every operation is tried without a key, with a wrong one and one of another scope, as a sibling
 * subaccount, as another account, as the parent who does not say that he acts for the owner, as the owner's own subaccount, and as the owner.
 */
t.test('an operation has an entry, or one is derived from those of its group', async (t) => {
  t.same(
    OPERATIONS.filter((operation) => !wallEntryOf(operation)).map(({ name }) => name),
    [],
    'add an entry in test/api/v2/wall',
  )
  const names = OPERATIONS.map(({ name }) => name)
  t.same(
    Object.keys(ENTRIES).filter((name) => !names.includes(name)),
    [],
    'nor is an entry left over',
  )
})

t.test('the wall between accounts', async (t) => {
  const service = await makeService(t, { WRONG_KEYS_PER_MINUTE: '1000' })
  const url = await service.openApi()

  const { ask, act } = createCaller(url)
  const setting: Setting = { service, act }
  const makeSubaccount = async (parent: Caller): Promise<Caller & { username: string }> => {
    const sender = await service.makeSender()
    const username = sender.accountName
    await service.sql`update accounts set parent_id = ${parent.accountId}, username = ${username} where id = ${sender.accountId}`
    return { ...sender, username }
  }
  const parent = await service.makeSender()
  const owner = await makeSubaccount(parent)
  const strangers = {
    'a sibling subaccount': await makeSubaccount(parent),
    'another account': await service.makeSender(),
    'the parent, not acting for it': parent,
    'a subaccount of its own': await makeSubaccount(owner),
  }
  const refusedFor = await refusedCallers(service, owner)

  for (const operation of OPERATIONS) {
    const { name, scope } = operation
    await t.test(name, async (t) => {
      const entry = wallEntryOf(operation) as WallEntry
      await tryWall(t, { name, entry, setting, ask, owner, strangers, refused: refusedFor(scope) })
    })
  }

  await t.test('a parent acts for its subaccount when it says so', async (t) => {
    await service.sql`select audit_note(${owner.accountId}, null, null, 'test.mark', 'seen by the parent', null, null)`
    const answer = await ask(parent, 'listAudit', { limit: 1000 }, { 'on-behalf-of': owner.username })
    t.match(answer, { status: 200, text: /seen by the parent/ })
    for (const stranger of ['a sibling subaccount', 'another account', 'a subaccount of its own'] as const) {
      const refused = await ask(strangers[stranger], 'listAudit', {}, { 'on-behalf-of': owner.username })
      t.match(refused.json, { error_info: { error_code: 172 } }, `not ${stranger}`)
    }
  })
})
