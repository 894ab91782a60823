import t from 'tap'
import type { V2Answer } from '../../helpers/send.ts'
import { type Copy, makeArrivals } from '../arrivals.ts'
import { call, JSON_TYPE } from '../call.ts'

/**
 * What the official clients' own samples put on the wire, octet for octet but for addresses, texts and files: the Node client is run
 * itself (pepipost-sdk.test.ts).
 */
const { service, base, sender, copies, story } = await makeArrivals(t)
const from = `desk@${sender.domain}`
const FILE = 'UGllciA3LCBiZXJ0aCA0'
const template = await service.core.templates.create({
  accountId: sender.accountId,
  name: 'sample',
  content: '<p>My name is [% name %].<br>my love is sending [% love %]</p>',
})

async function post(body: string, headers: Record<string, string>): Promise<V2Answer> {
  const { status, json, text } = await call(base, { headers: { api_key: sender.apiKey, ...headers }, body })
  if (status !== 200) throw new Error(text)
  return { body: json } as unknown as V2Answer
}

const filesOf = ({ mail }: Copy) =>
  mail.attachments.flatMap(({ filename, content }) => (filename ? [[filename, content.toString()]] : []))

const GO = { ...JSON_TYPE, accept: 'application/json', 'user-agent': 'pepi-sdk-go v2' }

t.test('the Go client’s sample is delivered: a slice of three personalizations, of which it fills one', async (t) => {
  const body = `{"personalizations":[{"recipient":"lena@harbor.example"},null,null],"from":{"fromEmail":"${from}"},"subject":"GO-SDK Pepipost ","content":"This is Go-SDK","settings":{}}`
  const answer = await post(body, GO)
  const all = await copies(answer)
  t.match(all, [{ recipient: 'lena@harbor.example', mail: { subject: 'GO-SDK Pepipost' } }])
  t.equal((await story(answer)).deliveries.length, 1)
})

t.test('pepipost-cli with a file, copies and a template is delivered: slices of three, both', async (t) => {
  const body = `{"personalizations":[{"recipient":"lena@harbor.example","recipient_cc":["mina@harbor.example"]},null,null],"from":{"fromEmail":"${from}","fromName":""},"subject":"Test Email","content":"\\u003cp\\u003eThis is Simple Text email body\\u003c/p\\u003e","attachments":[{"fileContent":"${FILE}","fileName":"berth.txt"},null,null],"settings":{"footer":1,"clicktrack":1,"opentrack":1,"unsubscribe":1,"bcc":"archive@harbor.example"},"replyToId":"help@ship.example"}`
  const all = await copies(await post(body, GO), 3)
  for (const copy of all) t.strictSame(filesOf(copy), [['berth.txt', 'Pier 7, berth 4']])
})

const ADVANCED = (files: string, extra: string) =>
  `{"personalizations":[{"recipient":"lena@harbor.example","x-apiheader_cc":"x api header cc content","x-apiheader":"xapi header for emails","attributes":{"name":"pepi","love":"Emails"},"attachments":[{"fileContent":"\\"${FILE}\\"","fileName":"pepipost.txt"}],"recipient_cc":["mina@harbor.example"],"recipient_bcc":["archive@harbor.example"],"x-headers":{"custom_key1":"custom_value1","custom_key2":"custom_value2"}}],"tags":"EmailSender","from":{"fromEmail":"${from}","fromName":"i am pepi"},"subject":"Pepipost mail through sdk","content":"<html><body>My name is [% name %].<br>my love is sending [% love %]<\\/body> <br><\\/html>","ampcontent":"<!doctype html><html \\u26a14email><body>Hello, world.<\\/body><\\/html>","attachments":[${files}],"settings":{"footer":1,"clicktrack":1,"opentrack":1,"unsubscribe":1,"bcc":"mybcc@harbor.example"},"replyToId":"replyto@ship.example"${extra}}`

const SAMPLES: readonly (readonly [name: string, body: string, agent: string])[] = [
  [
    'PHP',
    ADVANCED(`{"fileContent":"${FILE}","fileName":"pepipost_1.txt"}`, `,"templateId":${template.id}`),
    'pepi-sdk-php v2',
  ],
  [
    'Python',
    ADVANCED(`{"fileContent":"\\"${FILE}\\"","fileName":"pepipost_1.txt"}`, `,"templateId":${template.id}`),
    'pepi-sdk-python v2',
  ],
]
for (const [name, body, agent] of SAMPLES) {
  t.test(`the ${name} client’s advanced sample is delivered, with files whose base64 is in quotes`, async (t) => {
    const all = await copies(await post(body, { ...JSON_TYPE, 'user-agent': agent }), 4)
    for (const copy of all) {
      const text = 'Pier 7, berth 4'
      t.strictSame(filesOf(copy).sort(), [
        ['pepipost.txt', text],
        ['pepipost_1.txt', text],
      ])
      t.match(copy.mail.html, /My name is pepi\.<br>my love is sending Emails/)
    }
  })
}
