import { V3_OPERATIONS as OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { createCaller } from './wall/caller.ts'
import type { Caller, Setting } from './wall/entry.ts'
import { ENTRIES, wallEntryOf } from './wall/index.ts'

/**
 * Nobody sees or changes another account's anything: every operation is tried as a sibling subaccount, as another account,
 * as the parent who does not say that he acts for the owner, and as the owner's own subaccount.
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
  const service = await makeService(t)
  const url = await service.openApi()

  const { ask: call, act } = createCaller(url)
  const setting: Setting = { service, act }
  const makeSubaccount = async (parent: Caller): Promise<Caller> => {
    const sender = await service.makeSender()
    await service.sql`
      update accounts set parent_id = ${parent.accountId}, username = ${sender.accountName} where id = ${sender.accountId}`
    return sender
  }
  const parent = await service.makeSender()
  const owner = await makeSubaccount(parent)
  const strangers: Record<string, Caller> = {
    'a sibling subaccount': await makeSubaccount(parent),
    'another account': await service.makeSender(),
    'the parent, not acting for it': parent,
    'a subaccount of its own': await makeSubaccount(owner),
  }

  for (const operation of OPERATIONS) {
    const { name } = operation
    const entry = wallEntryOf(operation)
    if (!entry || entry.kind === 'none') continue
    for (const [who, stranger] of Object.entries(strangers)) {
      await t.test(`${name} as ${who}`, async (t) => {
        if (entry.kind === 'list') {
          const mark = await entry.make(setting, owner)
          t.ok(
            (await call(owner, name, entry.input)).text.includes(mark),
            `the owner sees ${mark}; an answer without it needs an entry in test/api/v3/wall`,
          )
          t.notOk((await call(stranger, name, entry.input)).text.includes(mark))
        } else if (entry.kind === 'object') {
          const input = await entry.make(setting, owner)
          const before = (await call(owner, ...entry.seen(input))).text
          const missing = await call(stranger, name, { ...input, ...entry.missing })
          const answer = await call(stranger, name, input)
          t.same([answer.status, answer.text], [missing.status, missing.text])
          t.equal((await call(owner, ...entry.seen(input))).text, before, 'unchanged')
        } else {
          await entry.make?.(setting, owner)
          const before = (await call(owner, ...entry.seen)).text
          await call(stranger, name, typeof entry.input === 'function' ? entry.input(stranger) : entry.input)
          t.equal((await call(owner, ...entry.seen)).text, before, 'unchanged')
        }
      })
    }
  }
})
