import t from 'tap'
import { makeQueue, recipients } from '../../core/delivery/queue-of.ts'
import { type CallAnswer, call, errorText } from '../call.ts'

interface Row {
  readonly trid: number
  readonly recipient: string
  readonly recipientNo: number
}

const codeOf = ({ json }: CallAnswer): unknown => (json?.error_info as { error_code?: number } | undefined)?.error_code

t.test('a message is found by its id, and one delivery by its transaction number', async (t) => {
  const { service, sender, accept, core } = await makeQueue(t)
  const url = await service.openApi()
  const headers = { api_key: sender.apiKey }
  const get = (query: string, own = headers) =>
    call(url, { method: 'GET', path: `/v2/delivery?${query}`, headers: own })
  const post = (body: Record<string, unknown>) => call(url, { path: '/v2.1/delivery', headers, body })
  const rowsOf = ({ json, text }: CallAnswer): Row[] => {
    if (json?.message !== 'Success') throw new Error(text)
    return json.data as Row[]
  }
  const id = (await accept(recipients(150))).replaceAll('-', '')
  const next = await accept(['lena@harbor.example'])

  const all = await get(`messageid=${id}`)
  t.equal(all.json?.totalRecords, 150, 'the answer has the first 100, and the number of all')
  t.strictSame(
    rowsOf(all).map(({ recipientNo }) => recipientNo),
    Array.from({ length: 100 }, (_, at) => at),
  )
  t.strictSame(rowsOf(await post({ messageid: id })), rowsOf(all), 'the same by POST')
  const { deliveries = [] } = (await core.messages.show(id)) ?? {}
  const trid = Number(deliveries[140]?.transactionNumber)
  for (const answer of [
    await get(`trid=${trid}`),
    await get(`trid=${trid}&messageid=`),
    await get(`messageid=${id}&trid=${trid}`),
    await post({ trid }),
    await post({ trid: String(trid), messageid: null }),
  ]) {
    t.match(rowsOf(answer), [{ trid, recipient: 'r140@harbor.example', recipientNo: 140, messageId: id }])
    t.equal(answer.json?.totalRecords, 1)
  }

  for (const answer of [await get(''), await get('messageid='), await post({ messageid: null })]) {
    t.equal(errorText(answer), 'Parameter [messageid] not passed')
  }
  t.equal(codeOf(await post({})), 110)
  for (const unknown of ['x', '0'.repeat(32), 'a,b']) {
    t.same([codeOf(await get(`messageid=${unknown}`)), (await get(`messageid=${unknown}`)).status], [163, 400], unknown)
  }
  for (const unknown of [
    'x',
    '1',
    '1.5',
    BigInt(trid) + 1n,
    trid - 4000,
    trid + 4000,
    10 ** 16,
    '9'.repeat(17),
    '9'.repeat(30),
  ]) {
    t.equal(codeOf(await get(`trid=${unknown}`)), 164, String(unknown))
  }
  t.equal(codeOf(await get(`messageid=${next}&trid=${trid}`)), 164, 'of another message')
  t.equal(errorText(await post({ messageid: ['a'] })), 'Parameter [messageid] is invalid: must be a string or a number')

  const stranger = await service.makeSender()
  const theirs = { api_key: stranger.apiKey }
  t.strictSame((await get(`messageid=${id}`, theirs)).text, (await get(`messageid=${'0'.repeat(32)}`, theirs)).text)
  t.strictSame((await get(`trid=${trid}`, theirs)).text, (await get(`trid=${trid + 400_000}`, theirs)).text)
  const { secret } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  t.equal(codeOf(await get(`messageid=${id}`, { api_key: secret })), 103, 'the scope events is required')
})
