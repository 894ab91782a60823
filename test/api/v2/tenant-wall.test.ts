import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'
import { account } from './wall/account.ts'
import { attachments } from './wall/attachments.ts'
import { audit } from './wall/audit.ts'
import { credits } from './wall/credits.ts'
import { domains } from './wall/domains.ts'
import type { Caller, Input, Setting, Wall } from './wall/entry.ts'
import { events } from './wall/events.ts'
import { exports } from './wall/exports.ts'
import { keys } from './wall/keys.ts'
import { messages } from './wall/messages.ts'
import { privacy } from './wall/privacy.ts'
import { sendEmail } from './wall/send-email.ts'
import { stats } from './wall/stats.ts'
import { subaccounts } from './wall/subaccounts.ts'
import { suppressions } from './wall/suppressions.ts'
import { templates } from './wall/templates.ts'
import { webhooks } from './wall/webhooks.ts'

/**
 * Nobody sees or changes another account's anything: every operation is tried as a sibling subaccount, as another account,
 * as the parent who does not say that he acts for the owner, and as the owner's own subaccount.
 */
const WALL: Wall = {
  ...sendEmail,
  ...domains,
  ...suppressions,
  ...templates,
  ...attachments,
  ...subaccounts,
  ...credits,
  ...keys,
  ...privacy,
  ...events,
  ...messages,
  ...stats,
  ...exports,
  ...webhooks,
  ...account,
  ...audit,
}

t.test('an operation without an entry here fails', async (t) => {
  t.same(
    OPERATIONS.map(({ name }) => name).filter((name) => !(name in WALL)),
    [],
  )
  t.same(Object.keys(WALL).sort(), OPERATIONS.map(({ name }) => name).sort(), 'nor is an entry left over')
})

t.test('the wall between accounts', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()

  const ask = (
    caller: Caller,
    name: string,
    input: Input,
    headers: Record<string, string> = {},
  ): Promise<CallAnswer> => {
    const told = OPERATIONS.find((one) => one.name === name)
    if (!told) throw new Error(`there is no operation ${name}`)
    const route = told.routes.find(([, ...methods]) => methods.includes('POST')) ?? told.routes[0]
    const [path = '', ...methods] = route ?? []
    const method = methods.includes('POST') ? 'POST' : String(methods[0])
    const filled = path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(input[parameter])))
    return call(url, { method, path: `/v2${filled}`, headers: { api_key: caller.apiKey, ...headers }, body: input })
  }
  const setting: Setting = {
    service,
    async act(caller, operation, input) {
      const { status, json, text } = await ask(caller, operation, input)
      if (status !== 200) throw new Error(`${operation}: ${status} ${text}`)
      return json?.data
    },
  }
  const makeSubaccount = async (parent: Caller): Promise<Caller & { username: string }> => {
    const sender = await service.makeSender()
    const username = sender.accountName
    await service.sql`update accounts set parent_id = ${parent.accountId}, username = ${username} where id = ${sender.accountId}`
    return { ...sender, username }
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
    if (!entry) continue
    for (const [who, stranger] of Object.entries(strangers)) {
      await t.test(`${name} as ${who}`, async (t) => {
        if (entry.kind === 'list') {
          const mark = await entry.make(setting, owner)
          const seen = await ask(owner, name, entry.input ?? {})
          t.ok(seen.text.includes(mark), 'the owner sees it')
          t.notOk((await ask(stranger, name, entry.input ?? {})).text.includes(mark))
        } else if (entry.kind === 'object') {
          const input = await entry.make(setting, owner)
          const before = (await ask(owner, ...entry.seen(input))).text
          const missing = await ask(stranger, name, { ...input, ...entry.missing })
          const answer = await ask(stranger, name, input)
          t.not(missing.status, 200, 'what never was is refused')
          const bare = ({ status, text }: CallAnswer) => [
            status,
            entry.repeated ? text.replace(entry.repeated, '') : text,
          ]
          t.same(bare(answer), bare(missing))
          t.equal((await ask(owner, ...entry.seen(input))).text, before, 'unchanged')
        } else {
          await entry.make?.(setting, owner)
          const before = (await ask(owner, ...entry.seen)).text
          await ask(stranger, name, entry.input)
          t.equal((await ask(owner, ...entry.seen)).text, before, 'unchanged')
        }
      })
    }
  }

  await t.test('a parent acts for its subaccount when it says so', async (t) => {
    await service.sql`select audit_note(${owner.accountId}, null, null, 'test.mark', 'seen by the parent', null, null)`
    const answer = await ask(parent, 'listAudit', { limit: 1000 }, { 'on-behalf-of': owner.username })
    t.match(answer, { status: 200, text: /seen by the parent/ })
    for (const stranger of ['a sibling subaccount', 'another account', 'a subaccount of its own'] as const) {
      const refused = await ask(strangers[stranger] as Caller, 'listAudit', {}, { 'on-behalf-of': owner.username })
      t.match(refused.json, { error_info: { error_code: 172 } }, `not ${stranger}`)
    }
  })
})
