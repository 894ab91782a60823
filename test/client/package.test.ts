import { execFile } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { installClient } from './installed.ts'
import { CHECKOUT } from './started.ts'

const MOST_OCTETS = 60_000

const { folder: own, packed, compiled } = installClient(t)

t.test('the package is small, and a program that installed it sends and reads', async (t) => {
  t.ok(statSync(packed).size < MOST_OCTETS)
  const service = await makeService(t)
  const sender = await service.makeSender()
  writeFileSync(
    join(own, 'send.js'),
    `import { Postrider, PostriderError } from '@postrider/client'
const postrider = new Postrider({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY })
const mail = { from: process.env.FROM, to: 'lena@harbor.example', subject: 'Berth 4', text: 'Ready.' }
const { messageId } = await postrider.messages.send(mail)
const { deliveries } = await postrider.messages.show({ messageId })
const error = await postrider.messages.send({ ...mail, from: 'x@other.example' }).catch((thrown) => thrown)
console.log(JSON.stringify([deliveries.length, error instanceof PostriderError, error.code]))
`,
  )
  const env = {
    ...process.env,
    BASE_URL: await service.openApi(),
    API_KEY: sender.apiKey,
    FROM: `desk@${sender.domain}`,
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['send.js'], { cwd: own, env })
  t.strictSame(JSON.parse(stdout), [1, true, 112])
})

t.test('its helpers for tests start an installation, and read what arrives', async (t) => {
  writeFileSync(
    join(own, 'test.js'),
    `import { Postrider } from '@postrider/client'
import { startPostrider } from '@postrider/client/test'
const { url: baseUrl, apiKey, inbox, stop } = await startPostrider(JSON.parse(process.env.CHECKOUT))
const to = inbox.address()
await new Postrider({ baseUrl, apiKey }).messages.send({ from: 'desk@shop.example', to, subject: 'Code', text: 'PIN: 4821' })
const { codes } = await inbox.waitFor({ to, timeout: 60000 })
await stop()
console.log(JSON.stringify(codes))
`,
  )
  const env = { ...process.env, CHECKOUT: JSON.stringify(CHECKOUT) }
  t.strictSame(JSON.parse((await promisify(execFile)(process.execPath, ['test.js'], { cwd: own, env })).stdout), [
    '4821',
  ])
  const bare = { ...env, CHECKOUT: '{}' }
  const found = await promisify(execFile)(process.execPath, ['test.js'], { cwd: own, env: bare }).catch(
    (error) => error,
  )
  t.match(found.stderr, 'the package postrider is not installed in this folder')
})

t.test('its types are those of the API: what is misspelt or lacking does not compile', async (t) => {
  t.equal(
    compiled(`
const { messageId } = await postrider.messages.send({ from: 'desk@ship.example', to: 'lena@harbor.example', text: 'x' })
const { subject } = await postrider.messages.show({ messageId })
const said: string | null = subject
for await (const event of postrider.events.feed()) if (event.type === 'bounced') console.log(event.number + 1)
const file: ReadableStream<Uint8Array> = await postrider.suppressions.export()
await postrider.suppressions.import({ body: 'email\\nlena@harbor.example\\n' })`),
    '',
  )
  t.equal(
    compiled(`
import { Inbox, startPostrider } from '@postrider/client/test'
await using started = await startPostrider({ domains: ['ship.example'] })
const { codes, headers } = await new Inbox(started.inboxUrl).waitFor({ to: 'lena@harbor.example', after: new Date() })
const said: string | undefined = codes[0] ?? headers.subject`),
    '',
  )
  t.match(
    compiled(`await postrider.messages.send({ from: 'desk@ship.example', text: 'x' })`),
    "Property 'to' is missing",
  )
  t.match(compiled(`await postrider.messages.resend({ messageId: '1', recipient: 'x' })`), "'recipient' does not exist")
  t.match(compiled(`await postrider.domains.add({})`), "Property 'domain' is missing")
  t.match(compiled(`for await (const { type } of postrider.events.feed()) if (type === 'bonced') break`), 'no overlap')
})
