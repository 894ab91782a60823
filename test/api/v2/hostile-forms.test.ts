import t from 'tap'
import { processorTimeOf } from '../../helpers/pace.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { asForm, call, FORM, messageIdOf, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const good = asForm(v2Body(sender))
const post = (body: string | Buffer, headers: Record<string, string> = FORM) =>
  call(base, { headers: { api_key: sender.apiKey, ...headers }, body })
const polluted = () => ['polluted', 'x', 'recipient', 'toJSON'].filter((name) => name in {})

/** V25, each with a name that would show on every object if it got through. */
const REACHING = [
  '__proto__[polluted]=1',
  '__proto__.polluted=1',
  '__proto__=1',
  '[__proto__][polluted]=1',
  'a[__proto__][polluted]=1',
  'a[__proto__]=1',
  'a[][__proto__][polluted]=1',
  'a[0][__proto__][polluted]=1',
  'from[__proto__][polluted]=1',
  'settings[__proto__][polluted]=1',
  'personalizations[__proto__][polluted]=1',
  'personalizations[0][__proto__][polluted]=1',
  'personalizations[0][attributes][__proto__]=1',
  'personalizations[0][attributes][__proto__][polluted]=1',
  'personalizations[0][x-headers][__proto__][polluted]=1',
  'constructor[prototype][polluted]=1',
  'a[constructor][prototype][polluted]=1',
  'personalizations[0][constructor][prototype][polluted]=1',
  'personalizations[0][attributes][constructor][prototype][polluted]=1',
  'constructor=1',
  'prototype[polluted]=1',
  'toString=1',
  'hasOwnProperty=1',
  'a[hasOwnProperty]=1',
  'personalizations[length]=9',
  'personalizations[push]=1',
  '%5f%5fproto%5f%5f[polluted]=1',
  'a%5B__proto__%5D%5Bpolluted%5D=1',
  'data={"__proto__":{"polluted":1}}',
  'data={"constructor":{"prototype":{"polluted":1}}}',
  'from={"__proto__":{"polluted":1}}',
  'settings={"\\u005f_proto__":{"polluted":1}}',
]
t.test('no parameter reaches a prototype, by any spelling', async (t) => {
  for (const reaching of REACHING) {
    for (const form of [`${good}&${reaching}`, reaching]) {
      const { status, text } = await post(form)
      t.ok([200, 400].includes(status), `${reaching}: ${text}`)
      t.strictSame(polluted(), [], reaching)
    }
    const [name = '', value = ''] = [
      reaching.slice(0, reaching.indexOf('=')),
      reaching.slice(reaching.indexOf('=') + 1),
    ]
    const part = `--B\r\nContent-Disposition: form-data; name="${decodeURIComponent(name)}"\r\n\r\n${value}\r\n--B--\r\n`
    const { status } = await post(part, { 'content-type': 'multipart/form-data; boundary=B' })
    t.equal(status, 400)
    t.strictSame(polluted(), [], reaching)
  }
})

const REFUSED: readonly (readonly [name: string, form: string, code: number])[] = [
  ['names nine brackets deep', `a${'[a]'.repeat(9)}=1`, 111],
  ['names a thousand brackets deep', `a${'[a]'.repeat(1000)}=1`, 111],
  ['JSON nested deeper than 64', `data={"a":${'['.repeat(65)}${']'.repeat(65)}}`, 111],
  ['a structure that is also a value', 'from=x', 113],
  ['a value that is also a structure', 'subject[a]=x', 113],
  ['text that is not UTF-8', 'subject=Gr%F6%DFe', 111],
  ['a key twice in JSON', 'data={"subject":"a","subject":"b"}', 111],
]
for (const [name, form, code] of REFUSED) {
  t.test(`a form with ${name} is refused with ${code}`, async (t) => {
    refused(t, await post(form.startsWith('data=') ? form : `${good}&${form}`), [400, code])
  })
}

t.test('raw octets that are not UTF-8 are refused, not replaced', async (t) => {
  refused(t, await post(Buffer.concat([Buffer.from(`${good}&tags=`), Buffer.from([0xe9])])), [400, 111])
})

t.test('unknown parameters are ignored, as in JSON', async (t) => {
  for (const unknown of [
    'a=1',
    'a[b=1',
    'a]b[=1',
    '[a]=1',
    '[]=1',
    '[=1',
    '%=1',
    'a[[b]]=1',
    '=',
    'subject[',
    ' subject=1',
  ]) {
    t.equal((await post(`${good}&${unknown}`)).status, 200, unknown)
  }
})

t.test('a form of ten thousand recipients is taken whole', async (t) => {
  const { personalizations: _one, ...rest } = v2Body(sender)
  const recipients = Array.from({ length: 10_000 }, (_, at) => ({
    recipient: `r${at}@harbor.example`,
    attributes: { NAME: `${at}` },
  }))
  const id = messageIdOf(await post(`${asForm(rest)}&${asForm({ personalizations: recipients })}`))
  const [row] = await service.sql`select recipients from messages where id = ${id}`
  t.equal(row?.recipients, 10_000)
})

/** Each takes seconds or more where the time grows with the square of the input. */
const HEAVY: readonly (readonly [name: string, form: string, status: number])[] = [
  ['places far apart', Array.from({ length: 150_000 }, (_, at) => `p${at}[9999]=1`).join('&'), 400],
  ['places downwards', Array.from({ length: 150_000 }, (_, at) => `a[${9_999 - (at % 10_000)}][b]=1`).join('&'), 400],
  ['200,001 parameters', 'a&'.repeat(200_001), 413],
  ['ten million separators', '&'.repeat(10_000_000), 400],
  ['a million brackets', `a${'['.repeat(1_000_000)}=1`, 400],
  ['a million closed brackets', `a${'[]'.repeat(1_000_000)}=1`, 400],
  ['one name 100,000 times', 'a=1&'.repeat(100_000), 400],
  [
    'base64 of blanks',
    `${good}&attachments[0][fileName]=a&attachments[0][fileContent]=A${'+'.repeat(1_000_000)}!`,
    400,
  ],
]
for (const [name, form, status] of HEAVY) {
  t.test(`a form of ${name} is answered in the time its size takes`, async (t) => {
    const took = await processorTimeOf(async () => {
      const answer = await post(form)
      t.equal(answer.status, status, answer.text)
    })
    t.ok(took < 10_000, `${took} ms`)
  })
}

const MULTIPART: readonly (readonly [name: string, body: string, boundary?: string])[] = [
  ['that does not end', '--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx'],
  ['whose last part does not end', '--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--'],
  ['without parts', 'x'],
  ['of a part without head', '--B\r\n\r\nx\r\n--B--'],
  ['of a part without name', '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--'],
  ['of a part that is no form-data', '--B\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--B--'],
  [
    'of a part with a head of 20 kB',
    `--B\r\nContent-Disposition: form-data; name="${'a'.repeat(20_000)}"\r\n\r\nx\r\n--B--`,
  ],
  [
    'of an unknown charset',
    '--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=klingon\r\n\r\nx\r\n--B--',
  ],
  ['of a million delimiters', '--B\r\n'.repeat(1_000_000)],
  ['of almost a delimiter', `--B\r\nContent-Disposition: form-data; name=a\r\n\r\n${'\r\n--'.repeat(2_000_000)}`],
  ['whose boundary is dashes', '-'.repeat(5_000_000), '-'.repeat(70)],
]
for (const [name, body, boundary = 'B'] of MULTIPART) {
  t.test(`a multipart body ${name} is refused with 111`, async (t) => {
    const took = await processorTimeOf(async () => {
      refused(t, await post(body, { 'content-type': `multipart/form-data; boundary=${boundary}` }), [400, 111])
    })
    t.ok(took < 10_000, `${took} ms`)
  })
}
