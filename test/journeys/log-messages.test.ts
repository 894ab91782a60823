import nodemailer from 'nodemailer'
import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

for (const setting of ['1', '0'])
  t.test(`LOG_MESSAGES=${setting}, by HTTP and SMTP, and what became of the messages`, async (t) => {
    const sink = await startSink(t, {
      rcpt: ({ command }) => (command.includes('gone@') ? '550 5.1.1 gone' : undefined),
    })
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, LOG_MESSAGES: setting })
    const sender = await service.makeSender()
    const [api, relay, delivery] = await Promise.all([
      startProcess(t, 'api', service.env),
      startProcess(t, 'relay', service.env),
      startProcess(t, 'delivery', service.env),
    ])
    const { apiPort, relayPort } = service.config
    const base = `http://127.0.0.1:${apiPort}`
    const body = v2Body(sender, {
      personalizations: [{ recipient: 'lena@harbor.example' }, { recipient: 'gone@harbor.example' }],
      subject: 'A subject',
    })
    const { body: answer } = await sendV2(base, sender.apiKey, body)
    const byHttp = (answer as { data: { message_id: string } }).data.message_id
    const v3 = await fetch(`${base}/v3/mail/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sender.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        personalizations: [{ to: [{ email: 'olga@harbor.example' }] }],
        from: { email: `desk@${sender.domain}` },
        subject: 'A subject',
        content: [{ type: 'text/plain', value: 'A text' }],
      }),
    })
    t.equal(v3.status, 202)
    const transport = nodemailer.createTransport({
      port: relayPort,
      tls: { rejectUnauthorized: false },
      auth: { user: 'apikey', pass: sender.apiKey },
    })
    t.teardown(() => transport.close())
    await transport.sendMail({
      from: `desk@${sender.domain}`,
      to: 'mia@harbor.example',
      subject: 'A subject',
      text: 'A text',
    })

    const outcomes = () => delivery.log.filter(({ msg }) => msg === 'delivered' || msg === 'bounced')
    await until('four outcomes to be logged', () => outcomes().length === 4)
    await Promise.all([api, relay, delivery].map((process) => process.stop()))
    const accepted = [...api.log, ...relay.log].filter(({ msg }) => msg === 'accepted')
    const common = { level: 30, accountId: sender.accountId, size: Number }
    t.match(
      accepted,
      setting === '0'
        ? []
        : [
            { ...common, messageId: byHttp, door: 'v2', recipients: 2, process: 'api' },
            {
              ...common,
              messageId: Buffer.from(String(v3.headers.get('x-message-id')), 'base64url').toString('hex'),
              door: 'v3',
              recipients: 1,
              process: 'api',
            },
            { ...common, messageId: /^[0-9a-f]{32}$/, door: 'smtp', recipients: 1, process: 'relay' },
          ],
    )
    t.equal(accepted.length, setting === '0' ? 0 : 3)
    t.match(
      outcomes().find(({ messageId, msg }) => messageId === byHttp && msg === 'bounced'),
      { recipientNo: 1, attempt: 1, stage: 'rcpt', code: 550, host: '127.0.0.1', milliseconds: Number },
    )
    for (const line of [...accepted, ...outcomes()])
      t.notMatch(JSON.stringify(line), /@|subject|text/, 'no addresses and no content')
  })
