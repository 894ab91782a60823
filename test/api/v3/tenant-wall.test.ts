import { V3_OPERATIONS as OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type Caller, refusedCallers, tryWall } from '../try-wall.ts'
import { createCaller } from './wall/caller.ts'
import type { Setting, WallEntry } from './wall/entry.ts'
import { ENTRIES, sampleInput, wallEntryOf } from './wall/index.ts'

/**
 * Nobody sees or changes another account's anything: every operation is tried without a key, with a wrong one and one of another scope, as a sibling
 * subaccount, as another account, as the parent who does not say that he acts for the owner, as the owner's own subaccount, and as the owner.
 */
t.test('an operation has an entry, or one is derived from those of its scope', async (t) => {
  t.strictSame(
    OPERATIONS.filter((operation) => !wallEntryOf(operation)).map(({ name }) => name),
    [],
    'add an entry in test/api/v3/wall',
  )
  const names = OPERATIONS.map(({ name }) => name)
  t.strictSame(
    Object.keys(ENTRIES).filter((name) => !names.includes(name)),
    [],
    'nor is an entry left over',
  )
})

t.test('the wall between accounts', async (t) => {
  const service = await makeService(t, { WRONG_KEYS_PER_MINUTE: '1000', WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const url = await service.openApi()

  const { ask, act } = createCaller(url)
  const setting: Setting = { service, act }
  const makeSubaccount = async (parent: Caller): Promise<Caller> => {
    const sender = await service.makeSender()
    await service.sql`
      update accounts set parent_id = ${parent.accountId}, username = ${sender.accountName} where id = ${sender.accountId}`
    return sender
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
      if (operation.status === 400) {
        // It is always refused, to the owner with words.
        const input = sampleInput(operation)
        for (const [who, [caller, status]] of Object.entries(refusedFor(scope)))
          t.equal((await ask(caller, name, input)).status, status, `as ${who}`)
        t.equal((await ask(owner, name, input)).status, 400)
        return
      }
      const entry = wallEntryOf(operation) as WallEntry
      await tryWall(t, { name, entry, setting, ask, owner, strangers, refused: refusedFor(scope) })
    })
  }
})
