import nodemailer from 'nodemailer'
import t from 'tap'
import { postriderTransport } from '../../packages/client/src/nodemailer.ts'
import { makeService } from '../helpers/service.ts'

t.test('nodemailer sends by the transport, with its envelope, once', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const transport = nodemailer.createTransport(
    postriderTransport({ baseUrl: await service.openApi(), apiKey: sender.apiKey }),
  )
  const mail = {
    from: `Ship Desk <desk@${sender.domain}>`,
    to: ['lena@harbor.example', 'Max <max@harbor.example>'],
    bcc: 'ada@harbor.example',
    subject: 'Berth 4 – früh',
    text: 'Ready.',
    attachments: [{ filename: 'plan.txt', content: 'left of the crane' }],
    messageId: '<order-7@ship.example>',
  }
  const info = await transport.sendMail(mail)
  t.match(info, { messageId: '<order-7@ship.example>', accepted: { length: 3 }, rejected: [] })
  await transport.sendMail(mail).catch(() => {})
  const rows = await service.sql<{ recipient: string }[]>`select recipient from delivery_queue order by recipient`
  t.strictSame(
    rows.map(({ recipient }) => recipient),
    ['ada@harbor.example', 'lena@harbor.example', 'max@harbor.example'],
  )
  const [row] = await service.sql<{ id: string }[]>`select id from messages`
  t.equal(info.postriderId.replaceAll('-', ''), row?.id.replaceAll('-', ''))
})

t.test('a refusal is an error of sendMail, and verify says whether the key is taken', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const baseUrl = await service.openApi()
  const transport = nodemailer.createTransport(postriderTransport({ baseUrl, apiKey: sender.apiKey }))
  t.equal(await transport.verify(), true)
  const wrong = nodemailer.createTransport(postriderTransport({ baseUrl, apiKey: 'wrong' }))
  await t.rejects(wrong.verify(), { name: 'AuthenticationError' })
  const mail = { from: 'x@other.example', to: 'lena@harbor.example', subject: 'Berth 4', text: 'Ready.' }
  await t.rejects(transport.sendMail(mail), { name: 'PostriderError', code: 112 })
})
