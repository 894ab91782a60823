import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { stuffed } from '../helpers/smtp-client.ts'
import { longestTurnOf } from '../helpers/turns.ts'
import { COSTLY, type Costly, sizeOf } from './costly.ts'
import { openSession } from './session.ts'

/** Milliseconds of processor time; what is aimed at is 100. Each of these took from 0.2 to 21 s before. */
const MOST = 200

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const { id: template } = await service.core.templates.create({
  accountId: sender.accountId,
  name: 'berth ready',
  content: '<p>[%k1%]</p>',
})

/** Those that cost most before; all of them are for `npm run test:hostile`. */
const CHOSEN = new RegExp(
  `^(${[
    'X-ATTRIBUTES of many keys for many',
    'fields of its own for ten thousand',
    'X-SMTPAPI of (unique_args|tags|more tags)',
    'To of addresses in encoded words',
    'a body of (parts without number|delimiters|heads of 1 MB|head without end), with Idem',
    'a body of (heads of 1 MB|blanks in base64|quoted-printable|equals signs|flowed text|letters in), with X-SMTPAPI',
    'a body of (one line|parts with long lines|messages in messages.*|a signature.*)$',
    'many f(ields|olds)$|as many fields as there may be',
    'a line of words in X-A',
    'words of 32 kB',
    'doubled fields|a long list, doubled',
    'a header of 29 MB$',
  ].join('|')})`,
)

/** In pieces as large as a socket's, so that sending it does not take a turn of its own. */
function segmentsOf(costly: Costly, key: string): Buffer[] {
  const octets = sizeOf(costly)
  const from = costly.from?.(octets, desk) ?? `From: ${desk}\r\n`
  const text = (from + costly.make(octets)).replace('#1#', String(template)).replace('#2#', key)
  const data = stuffed(Buffer.from(text, 'latin1'))
  return Array.from({ length: Math.ceil(data.length / 65_536) }, (_, at) =>
    data.subarray(at * 65_536, (at + 1) * 65_536),
  )
}

for (const costly of COSTLY.filter(({ what }) => CHOSEN.test(what))) {
  t.test(`${costly.what}: a message of it delays no others`, async (t) => {
    let time = 0
    const prepare = async () => {
      const client = await openSession(t, service, sender)
      await client.begin(desk, ...Array.from({ length: costly.recipients ?? 1 }, (_, at) => `r${at}@harbor.example`))
      return { client, segments: segmentsOf(costly, `${costly.what} ${time++}`) }
    }
    const longest = await longestTurnOf(
      MOST,
      async ({ client, segments }) => {
        await client.send(...segments)
        t.match(await client.reply(), /^(250|550) /)
        client.destroy()
      },
      prepare,
    )
    t.ok(longest < MOST, `${longest} ms`)
  })
}
