import { FORM, messageIdOf } from '../call.ts'
import type { Recorder } from './recorder.ts'
import { messageFrom } from './v2-mail.ts'
import type { World } from './world.ts'

/** Only their headers are recorded: the text is generated, from the schemas and the guides. */
const DOCUMENTS = ['/openapi.json', '/docs', '/docs/', '/docs/v3/errors.html']

/** What is served without a key: health, tracking, unsubscribe pages and documentation. */
export async function recordOpen(recorder: Recorder, world: World): Promise<void> {
  for (const path of ['/health/live', '/health/ready', '/health', '/nowhere', '/exports/x']) {
    for (const method of ['GET', 'HEAD', 'POST']) await recorder.ask('without a key', { method, path })
  }
  for (const path of DOCUMENTS) await recorder.ask('without a key', { method: 'HEAD', path })
  const owner = await world.makeOwner('open-calls')
  const sent = await recorder.ask('sendEmail', {
    path: '/v2/sendEmail',
    headers: { api_key: owner.key },
    body: messageFrom(owner),
  })
  await world.deliver()
  const messageId = messageIdOf(sent)
  const target = { accountId: owner.accountId, recipientNo: 0, link: 0, messageId }
  const paths = {
    'a pixel': world.trackingPath({ ...target, kind: 'open', group: 0, url: '' }),
    'a link': world.trackingPath({ ...target, kind: 'click', group: 0, url: 'https://shop.example/a?b=ü' }),
    'a link that leads nowhere': world.trackingPath({ ...target, kind: 'click', group: 0, url: 'javascript:alert(1)' }),
    'an unsubscribe page': world.trackingPath({ ...target, kind: 'unsubscribe', group: 0, url: '' }),
    'an unsubscribe page of a group': world.trackingPath({ ...target, kind: 'unsubscribe', group: 3, url: '' }),
    'an unsubscribe page of no message': world.trackingPath({
      ...target,
      kind: 'unsubscribe',
      group: 0,
      url: '',
      messageId: '019cb000-0000-7000-8000-000000000000',
    }),
    'an unknown token': '/t/u/AAAA',
    'no token': '/t/o/',
    'an unknown kind': '/t/x/AAAA',
    'no kind': '/t',
  }
  for (const [title, path] of Object.entries(paths)) {
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) await recorder.ask(title, { method, path })
    await recorder.ask(`${title}, another form`, { path, headers: FORM, body: 'a=b' })
    await recorder.ask(`${title}, one click`, { path, headers: FORM, body: 'List-Unsubscribe=One-Click' })
  }
  await recorder.ask('a long form', { path: paths['an unsubscribe page'], headers: FORM, body: 'x'.repeat(10_000) })
}
