import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const service = await makeService(t, { ATTACHMENT_STORAGE_MB: '1' })
const base = await service.openApi()
const refused = refusedIn('Attachment')
const calls = async () => accountCalls(base, (await service.makeSender()).apiKey)
const third = { fileName: 'third.bin', fileContent: Buffer.alloc((1024 * 1024) / 3).toString('base64') }
const one = { fileName: 'a.txt', fileContent: 'YQ==' }

t.test('an account’s files have a bound together, which another account’s do not touch', async (t) => {
  const [own, other] = [await calls(), await calls()]
  const answers = await Promise.all(Array.from({ length: 8 }, () => own.ask('POST', '/attachment', third)))
  t.equal(answers.filter(({ status }) => status === 200).length, 3, 'also when all come at once')
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    refused(t, answer, [156, 'Attachment storage limit of 1 MB exceeded'])
  }
  t.ok(await other.data('POST', '/attachment', third))
  t.ok(await own.data('POST', '/attachment', one), 'an octet of room is left')
  refused(t, await own.ask('POST', '/attachment', one), [156], 'and no more')
  const [first] = await own.data<{ attachmentId: number }[]>('GET', '/attachment')
  await own.data('DELETE', `/attachment/${first?.attachmentId}`)
  t.ok(await own.data('POST', '/attachment', third), 'what was deleted is free')
})

t.test('an account has at most 10,000 files', async (t) => {
  const { accountId, apiKey } = await service.makeSender()
  await service.sql`
    insert into attachments (account_id, file_name, content) select ${accountId}, 'x', 'x' from generate_series(1, 10000)`
  const answer = await accountCalls(base, apiKey).ask('POST', '/attachment', one)
  refused(t, answer, [156, 'Attachment storage limit of 10000 files exceeded'])
})
