import { V3_OPERATIONS as OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { ask } from './ask.ts'
import { accountSettings } from './wall/account-settings.ts'
import type { Caller, Input, Setting, Wall } from './wall/entry.ts'
import { keys } from './wall/keys.ts'
import { mailSend } from './wall/mail-send.ts'
import { scheduledSends } from './wall/scheduled-sends.ts'
import { scopes } from './wall/scopes.ts'
import { stats } from './wall/stats.ts'
import { suppressionGroups } from './wall/suppression-groups.ts'
import { suppressions } from './wall/suppressions.ts'
import { templates } from './wall/templates.ts'
import { webhooks } from './wall/webhooks.ts'

/**
 * Nobody sees or changes another account's anything: every operation is tried as a sibling subaccount, as another account,
 * as the parent who does not say that he acts for the owner, and as the owner's own subaccount.
 */
const WALL: Wall = {
  ...accountSettings,
  ...keys,
  ...mailSend,
  ...scheduledSends,
  ...scopes,
  ...stats,
  ...suppressionGroups,
  ...suppressions,
  ...templates,
  ...webhooks,
}

t.test('an operation without an entry here fails', async (t) => {
  t.strictSame(Object.keys(WALL).sort(), OPERATIONS.map(({ name }) => name).sort())
})

t.test('the wall between accounts', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()

  const call = (caller: Caller, name: string, { params = {}, query = {}, body }: Input = {}): Promise<CallAnswer> => {
    const told = OPERATIONS.find((one) => one.name === name)
    if (!told) throw new Error(`there is no operation ${name}`)
    const filled = told.path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(params[parameter])))
    const asked = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    const path = asked === '' ? filled : `${filled}?${asked}`
    return ask(url, { method: told.method, path, key: caller.apiKey, body })
  }
  const setting: Setting = {
    service,
    async act(caller, operation, input) {
      const { status, json, text } = await call(caller, operation, input)
      if (status >= 300) throw new Error(`${operation}: ${status} ${text}`)
      return json
    },
  }
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

  for (const { name } of OPERATIONS) {
    const entry = WALL[name]
    if (!entry || entry.kind === 'none') continue
    for (const [who, stranger] of Object.entries(strangers)) {
      await t.test(`${name} as ${who}`, async (t) => {
        if (entry.kind === 'list') {
          const mark = await entry.make(setting, owner)
          t.ok((await call(owner, name, entry.input)).text.includes(mark), 'the owner sees it')
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
