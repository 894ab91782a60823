import t, { type Test } from 'tap'
import { refused } from '../../core/refused.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { asForm, type CallAnswer, type CallOptions, call, FORM } from '../call.ts'

const service = await makeService(t)
const { core, sql } = service
const base = await service.openApi()

const CREATE = '/v2/subaccounts/createSubaccount'
const UPDATE = '/v2/subaccounts/updateSubaccount'
const DELETE = '/v2/subaccounts/delete'
const LIST = '/v2/subaccounts/getSubAccounts'
const SUBACCOUNTS = '/v2/subaccounts'

const ask = (apiKey: string, path: string, body?: CallOptions['body'], options: CallOptions = {}) =>
  call(base, { path, ...options, headers: { api_key: apiKey, ...options.headers }, ...(body ? { body } : {}) })

const DOCK = { username: 'dock2', email: 'd2@ship.example', setpassword: '1', password: 'Anchor77x' }

async function makeDock(parent: Sender, extra: Record<string, unknown> = {}): Promise<Sender & { username: string }> {
  const { json, text, status } = await ask(parent.apiKey, CREATE, { ...DOCK, ...extra })
  if (status !== 200) throw new Error(text)
  const { api_key: apiKey, username } = dataOf(json) as { api_key: string; username: string }
  const [row] = await sql<{ id: number; name: string }[]>`
    select id, name from accounts where parent_id = ${parent.accountId} and username = ${username} and deleted_at is null`
  const domain = `${row?.id}.dock.example`
  await core.domains.add({ accountId: row?.id as number, name: domain, state: 'active' })
  return { accountId: row?.id as number, accountName: row?.name as string, apiKey, domain, username }
}

const dataOf = (json: CallAnswer['json']) => (json?.data ?? {}) as Record<string, unknown>
const errorOf = ({ json }: CallAnswer) => (json?.error_info ?? {}) as { error_code?: number; error_message?: string }

function refusedWith(t: Test, answer: CallAnswer, code: number, what: string | RegExp = '', status = 400): void {
  t.equal(answer.status, status, `${what} ${answer.text}`)
  t.equal(answer.json?.message, 'Error in Subaccount api call')
  t.equal(errorOf(answer).error_code, code, String(what))
  if (what instanceof RegExp) t.match(errorOf(answer).error_message, what)
}

const audited = async (accountId: number) =>
  (await core.audit.list(accountId, { after: 0, limit: 1000 })).map(({ action }) => action)

t.test('createSubaccount answers the subaccount and an API key that works at once (E33)', async (t) => {
  const parent = await service.makeSender()
  const { status, json } = await ask(parent.apiKey, CREATE, DOCK)
  t.equal(status, 200)
  const { api_key: apiKey, ...data } = dataOf(json)
  t.strictSame(data, { username: 'dock2', email: 'd2@ship.example', credit_type: 'unlimited', disabled: false })
  const principal = await core.auth.authenticate(String(apiKey), '127.0.0.1')
  t.match(principal.account, { parentId: parent.accountId, name: `${parent.accountName}/dock2` })
  t.match((await ask(parent.apiKey, LIST, {})).json, { data: [data], totalRecords: 1 })
})

t.test(
  'createSubaccount takes setpassword as text or number, JSON or form, and keeps the password as scrypt',
  async (t) => {
    const parent = await service.makeSender()
    const variants: readonly (readonly [setpassword: unknown, form: boolean])[] = [
      ['1', false],
      [1, false],
      ['0', false],
      [0, false],
      ['1', true],
      ['0', true],
    ]
    for (const [at, [setpassword, form]] of variants.entries()) {
      const body = { ...DOCK, username: `dock${at}00`, setpassword }
      const answer = form
        ? await ask(parent.apiKey, CREATE, asForm(body), { headers: FORM })
        : await ask(parent.apiKey, CREATE, body)
      t.equal(answer.status, 200, answer.text)
      t.notMatch(answer.text, 'Anchor')
      const [row] =
        await sql`select password from accounts where parent_id = ${parent.accountId} and username = ${body.username}`
      if (String(setpassword) === '1')
        t.match(row?.password, /^scrypt\$16\$8\$1\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/)
      else t.equal(row?.password, null)
    }
    const without = { username: 'quay', email: 'q@ship.example', setpassword: 0 }
    t.equal((await ask(parent.apiKey, CREATE, without)).status, 200)
  },
)

t.test('createSubaccount names each parameter that is missing with 113', async (t) => {
  const parent = await service.makeSender()
  for (const parameter of ['username', 'email', 'setpassword', 'password']) {
    const { [parameter]: _, ...body } = DOCK as Record<string, unknown>
    refusedWith(t, await ask(parent.apiKey, CREATE, body), 113, new RegExp(`^Parameter \\[${parameter}\\] not passed$`))
  }
  refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, setpassword: '2' }), 113, /setpassword.*1 or 0/)
  refusedWith(t, await ask(parent.apiKey, CREATE, {}), 110)
})

t.test(
  'createSubaccount refuses bad names with 170, mail with 173, passwords with 174, kinds of credit with 175',
  async (t) => {
    const parent = await service.makeSender()
    for (const username of ['', 'ab', 'a'.repeat(65), 'a b c', 'a/b/c', 'döck', 'dock\n', '<dock>', "dock'--"]) {
      refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, username }), 170, JSON.stringify(username))
    }
    for (const email of ['', 'nope', '@ship.example', 'a@', 'a b@ship.example', 'a@ship.example, b@ship.example']) {
      refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, email }), 173, email)
    }
    for (const password of ['Short7x', 'anchor77x', 'ANCHOR77X', 'Anchorage', `A7${'a'.repeat(199)}`]) {
      refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, password }), 174, password)
    }
    refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, credit_type: 'lots' }), 175)
    t.same((await ask(parent.apiKey, LIST, {})).json?.data, [], 'nothing was made')
  },
)

t.test(
  'createSubaccount refuses a name that is used with 171, whatever its case; another account may use it',
  async (t) => {
    const [parent, other] = [await service.makeSender(), await service.makeSender()]
    await makeDock(parent)
    refusedWith(t, await ask(parent.apiKey, CREATE, DOCK), 171)
    refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, username: 'DOCK2' }), 171)
    t.equal((await ask(other.apiKey, CREATE, DOCK)).status, 200)
    await core.accounts.create(`${parent.accountName}/wharf`)
    refusedWith(
      t,
      await ask(parent.apiKey, CREATE, { ...DOCK, username: 'wharf' }),
      171,
      'the operator has one of that name',
    )
  },
)

t.test('of twenty equal createSubaccount calls at once one makes it', async (t) => {
  const parent = await service.makeSender()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(parent.apiKey, CREATE, { ...DOCK, setpassword: 0 })),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) if (answer.status !== 200) refusedWith(t, answer, 171)
})

t.test('a subaccount cannot have subaccounts of its own: 176', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(parent)
  refusedWith(t, await ask(dock.apiKey, CREATE, DOCK), 176, '', 403)
  const onBehalf = { headers: { 'on-behalf-of': 'dock2' } }
  refusedWith(t, await ask(parent.apiKey, CREATE, { ...DOCK, username: 'dock3' }, onBehalf), 176, '', 403)
  t.match((await ask(dock.apiKey, LIST, {})).json, { data: [], totalRecords: 0 })
})

t.test('a key without the scope is refused with 103', async (t) => {
  const parent = await service.makeSender()
  const { secret } = await core.auth.createKey({ accountId: parent.accountId, scopes: ['send'] })
  refusedWith(t, await ask(secret, CREATE, DOCK), 103, '', 403)
})

t.test('updateSubaccount changes mail, password and kind of credit', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(parent)
  const password = async () => (await sql`select password from accounts where id = ${dock.accountId}`)[0]?.password
  const before = await password()
  const answer = await ask(parent.apiKey, UPDATE, { username: 'Dock2', new_email: 'new@ship.example' })
  t.match(answer.json?.data, { username: 'dock2', email: 'new@ship.example', credit_type: 'unlimited' })
  t.equal(await password(), before)
  const change = { username: 'dock2', new_password: 'Harbor88y', confirm_password: 'Harbor88y' }
  t.equal((await ask(parent.apiKey, UPDATE, change)).status, 200)
  t.not(await password(), before)
  const limited = await ask(parent.apiKey, UPDATE, { username: 'dock2', credit_type: 'one_time_credit' })
  t.match(limited.json?.data, { credit_type: 'one_time_credit' })
  t.equal((await sendV2(base, dock.apiKey, v2Body(dock))).body.error_info?.error_code, 162, 'it starts with none')
  const free = await ask(parent.apiKey, UPDATE, { username: 'dock2', credit_type: 'unlimited' })
  t.match(free.json?.data, { credit_type: 'unlimited' })
  t.equal((await sendV2(base, dock.apiKey, v2Body(dock))).status, 200)
})

t.test('updateSubaccount refuses like createSubaccount, and 172 for one that is not there', async (t) => {
  const parent = await service.makeSender()
  await makeDock(parent)
  const update = (body: Record<string, unknown>) => ask(parent.apiKey, UPDATE, { username: 'dock2', ...body })
  refusedWith(t, await update({}), 113, /new_email/)
  refusedWith(t, await update({ new_password: 'Harbor88y' }), 113, /confirm_password/)
  refusedWith(t, await update({ new_password: 'Harbor88y', confirm_password: 'Harbor88z' }), 174, /differ/)
  refusedWith(t, await update({ new_password: 'short', confirm_password: 'short' }), 174)
  refusedWith(t, await update({ new_email: 'nope' }), 173)
  refusedWith(t, await update({ credit_type: 'lots' }), 175)
  refusedWith(t, await update({ username: 'nowhere', new_email: 'a@ship.example' }), 172)
})

t.test(
  'a disabled subaccount’s key is refused with 115 within 5 s on every call, and works again when enabled',
  async (t) => {
    const parent = await service.makeSender()
    const dock = await makeDock(parent)
    t.equal((await sendV2(base, dock.apiKey, v2Body(dock))).status, 200)
    const answer = await ask(parent.apiKey, SUBACCOUNTS, { username: 'dock2', disabled: true }, { method: 'PATCH' })
    t.match(answer.json?.data, { username: 'dock2', disabled: true }, 'E34')
    const code = async () => (await sendV2(base, dock.apiKey, v2Body(dock))).body.error_info?.error_code
    await until('the refusal', async () => (await code()) === 115, 5000)
    refusedWith(t, await ask(dock.apiKey, LIST, {}), 115, 'Account is suspended', 403)
    const onBehalf = await sendV2(base, parent.apiKey, v2Body(dock), { 'on-behalf-of': 'dock2' })
    t.equal(onBehalf.body.error_info?.error_code, 115, 'nor may its parent send as it')
    t.equal((await ask(parent.apiKey, SUBACCOUNTS, { username: 'dock2', disabled: 'no' })).status, 400)
    t.equal(
      (await ask(parent.apiKey, SUBACCOUNTS, asForm({ username: 'dock2', disabled: '0' }), { headers: FORM })).status,
      200,
    )
    await until('the mail', async () => (await code()) === undefined, 5000)
    refusedWith(t, await ask(parent.apiKey, SUBACCOUNTS, { username: 'nowhere', disabled: true }), 172)
  },
)

t.test('a subaccount is refused with 115 within 5 s when its parent is suspended or has expired', async (t) => {
  for (const [what, act] of [
    ['suspended', (id: number) => core.accounts.suspend(id)],
    ['expired', (id: number) => core.accounts.expire(id, null)],
  ] as const) {
    const parent = await service.makeSender()
    const dock = await makeDock(parent)
    t.equal((await sendV2(base, dock.apiKey, v2Body(dock))).status, 200)
    await act(parent.accountId)
    for (const [apiKey, headers] of [
      [dock.apiKey, {}],
      [parent.apiKey, { 'on-behalf-of': 'dock2' }],
    ] as const) {
      const refusal = async () => {
        const { status, body } = await sendV2(base, apiKey, v2Body(dock), headers)
        return status !== 200 && body.error_info
      }
      t.match(await until('the refusal', refusal, 5000), { error_code: 115, error_message: new RegExp(what) })
    }
  }
})

t.test('deleteSubaccount refuses its key within 5 s, and frees its name', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(parent)
  t.equal((await sendV2(base, dock.apiKey, v2Body(dock))).status, 200)
  const gone = await ask(parent.apiKey, `${DELETE}?username=dock2`, undefined, { method: 'DELETE' })
  t.strictSame(gone.json?.data, { returned_credit: 0 })
  refusedWith(t, await ask(parent.apiKey, DELETE, { username: 'dock2' }), 172)
  refusedWith(t, await ask(parent.apiKey, UPDATE, { username: 'dock2', new_email: 'a@ship.example' }), 172)
  const code = async () => (await sendV2(base, dock.apiKey, v2Body(dock))).body.error_info?.error_code
  await until('the refusal', async () => (await code()) === 101, 5000)
  t.match((await ask(parent.apiKey, LIST, {})).json, { data: [], totalRecords: 0 })
  const again = await makeDock(parent)
  t.not(again.accountId, dock.accountId)
  t.equal(await refused(core.accounts.resume(dock.accountId)), 'parameterInvalid', 'nobody brings it back')
  t.equal((await ask(parent.apiKey, DELETE, asForm({ username: 'dock2' }), { headers: FORM })).status, 200)
})

t.test('listSubaccounts answers pages by name, with how many there are in all', async (t) => {
  const parent = await service.makeSender()
  for (const username of ['cargo', 'Berth', 'anchor', 'dock_1']) {
    await ask(parent.apiKey, CREATE, { ...DOCK, setpassword: 0, username })
  }
  const names = async (query: string, path = LIST) => {
    const { json } = await ask(parent.apiKey, `${path}?${query}`, undefined, { method: 'GET' })
    const { data, totalRecords } = json as { data: { username: string }[]; totalRecords: number }
    return [data.map(({ username }) => username), totalRecords]
  }
  t.same(await names(''), [['anchor', 'Berth', 'cargo', 'dock_1'], 4])
  t.same(await names('limit=2&offset=1'), [['Berth', 'cargo'], 4])
  t.same(await names('username=BERTH'), [['Berth'], 1])
  t.same(await names('username=dock%25'), [[], 0], 'a name, no pattern')
  t.same(await names('limit=1', SUBACCOUNTS), [['anchor'], 4])
  refusedWith(t, await ask(parent.apiKey, LIST, { limit: 'x' }), 113)
})

t.test(
  'each change appears in the audit log of the account and of the subaccount, without mail or password',
  async (t) => {
    const parent = await service.makeSender()
    const dock = await makeDock(parent)
    const change = { new_email: 'n@ship.example', new_password: 'Harbor88y', confirm_password: 'Harbor88y' }
    await ask(parent.apiKey, UPDATE, { username: 'dock2', ...change })
    await ask(parent.apiKey, SUBACCOUNTS, { username: 'dock2', disabled: true })
    await ask(parent.apiKey, SUBACCOUNTS, { username: 'dock2', disabled: false })
    await ask(parent.apiKey, DELETE, { username: 'dock2' })
    const done = ['create', 'update', 'disable', 'enable', 'delete'].map((act) => `subaccount.${act}`)
    for (const accountId of [parent.accountId, dock.accountId]) {
      t.same(
        (await audited(accountId)).filter((action) => action.startsWith('subaccount.')),
        done,
      )
      t.equal(await core.audit.firstBroken(accountId), null)
    }
    const entries = await core.audit.list(dock.accountId, { after: 0, limit: 100 })
    t.match(entries[0], { object: 'subaccount dock2', address: '127.0.0.1' })
    t.notMatch(JSON.stringify(entries), /Harbor|scrypt|ship\.example/)
  },
)
