import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeArrivals } from '../arrivals.ts'
import { call, errorText, refused } from '../call.ts'

const { base, sender, send, copies, deliver } = await makeArrivals(t)
const PIXEL = 'iVBORw0KGgo='

t.test('a text given with the HTML is delivered as its alternative, merged', async (t) => {
  const { mail, raw } = await deliver({
    personalizations: [{ recipient: 'lena@harbor.example', attributes: { NAME: 'Lena' } }],
    textcontent: 'Dear [%NAME%], your berth is ready.',
    settings: { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 },
  })
  t.match(mail, { text: /^Dear Lena, your berth is ready\.\s*$/, html: '<p>Your berth is ready.</p>' })
  t.match(raw, /multipart\/alternative[\s\S]*text\/plain[\s\S]*text\/html/)
})

t.test('a text alone is content, and is taken URL-encoded as the HTML is', async (t) => {
  const { mail } = await deliver({ content: undefined, textcontent: 'Your%20berth%20is%20ready.' })
  t.match(mail, { text: /^Your berth is ready\./, html: false })
})

t.test('a file with a contentId is an inline image of the HTML; the others are attachments', async (t) => {
  const answer = await send({
    personalizations: [
      {
        recipient: 'lena@harbor.example',
        attachments: [{ fileName: 'own.png', fileContent: PIXEL, contentId: '<cid:own@ship.example>' }],
      },
    ],
    content: '<img src="cid:logo"><img src="cid:own@ship.example">',
    attachments: [
      { fileName: 'logo.png', fileContent: PIXEL, contentId: 'cid:logo' },
      { fileName: 'plan.png', fileContent: PIXEL, contentId: '' },
    ],
  })
  const [copy] = await copies(answer)
  t.match(copy?.mail.attachments.map(({ filename, cid, related }) => [filename, cid, related]).sort(), [
    ['logo.png', 'logo', true],
    ['own.png', 'own@ship.example', true],
    ['plan.png', undefined, undefined],
  ])
})

t.test('a contentId that could break out of its place is refused, and named', async (t) => {
  for (const contentId of ['a\r\nBcc: b', 'a>b', 'ü', '=?utf-8?q?a?=', 'a'.repeat(256)]) {
    const file = { fileName: 'a.png', fileContent: PIXEL, contentId }
    const answer = await call(base, {
      headers: { api_key: sender.apiKey },
      body: v2Body(sender, { attachments: [null, file] }),
    })
    refused(t, answer, [400, 113])
    t.match(errorText(answer), /^Parameter \[attachments\[1\]\.contentId\] is invalid: /)
  }
})
