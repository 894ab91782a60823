import type { Socket } from 'node:net'
import { talkSmtp } from '../../delivery/raw-server.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { rowsOf } from '../row.ts'
import { ODD_HOST, type Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

let domains = 0

/** A relayed message of the sender, and what became of it. */
const relayed = (make: () => string) => async (stage: Stage) => {
  const answer = await stage.relay(
    `From: desk@${stage.sender.domain}\r\nTo: a@b.example\r\nSubject: Berth 4\r\n${make()}`,
  )
  return `${answer.slice(0, 3)} ${await stage.delivered(answer)}`
}
const sent = (make: () => Record<string, unknown>) => async (stage: Stage) => {
  const answer = await stage.send(make())
  return `${answer} ${await stage.delivered(answer)}`
}
/** A mail to a host that talks like this; a domain and host of its own each time, since a host that failed is left alone. */
const odd = (talk: (socket: Socket) => void) => async (stage: Stage) => {
  let met = 0
  stage.odd = (socket) => {
    met++
    talk(socket)
  }
  const domain = `odd${++domains}.example`
  Object.assign(stage.dns.zones, { [domain]: { mx: [[1, `mx.${domain}`]] }, [`mx.${domain}`]: { a: [ODD_HOST] } })
  const answer = await stage.send({ personalizations: [{ recipient: `lena@${domain}` }] })
  return `${answer} ${await stage.delivered(answer)}, met ${met} times`
}
const says = (verb: string, text: () => string) =>
  odd((socket) => {
    socket.write('220 odd.test\r\n')
    talkSmtp(socket, (line) => (line.startsWith(verb) ? text() : undefined))
  })
const html = (make: () => string) => relayed(() => `Content-Type: text/html\r\n\r\n${make()}\r\n`)
const lines = (line: string, length: number): string => fill(`${line}\r\n`, length)

/** The worker: bodies that are costly to sign, to rewrite and to compose, and remote servers, DNS and receivers that answer oddly. */
export const WORKER = rowsOf(
  'worker',
  {
    'body: 28 MB of tabs and letters': relayed(() => `\r\n${fill('\ta', 28 * MB - ((28 * MB) % 2))}\r\n`),
    'body: 28 MB of lines of tabs and letters': relayed(() => `\r\n${lines(fill('\ta', 900), 28 * MB)}`),
    'body: 28 MB of blanks': relayed(() => `\r\n${lines(fill(' ', 900), 28 * MB)}`),
    'body: 28 MB of blanks and one letter': relayed(() => `\r\n${fill(' ', 28 * MB)}a\r\n`),
    'body: 28 MB of line ends': relayed(() => `\r\n${fill('\r\n', 28 * MB)}`),
    'body: 28 MB of line ends and one letter': relayed(() => `\r\n${fill('\r\n', 28 * MB)}a\r\n`),
    'body: 20 MB of dots': relayed(() => `\r\n${lines('.', 20 * MB)}`),
    'body: 28 MB in one line': relayed(() => `\r\n${fill('a', 28 * MB)}\r\n`),
    'body: 28 MB of 8 bit': relayed(() => `\r\n${lines(fill('é', 400), 14 * MB)}`),
    'head: 400 kB of blanks in signed fields': relayed(
      () => `References: ${many(6000, () => fill(' \t', 70), '\r\n ')}a\r\n\r\nx\r\n`,
    ),
    'head: 100,000 fields': relayed(() => `${fill('A:\r\n', 400 * kB)}\r\nx\r\n`),
    'head: 2,000 fields that are signed': relayed(() => `${fill('Reply-To: a@b.example\r\n', 40 * kB)}\r\nx\r\n`),
    'HTML: 1 MB of <a href=': html(() => lines(fill('<a href="', 900), MB - 9000)),
    'HTML: 1 MB of links': html(() => lines('<a href="http://a.example/">b</a>', MB - 9000)),
    'HTML: 1 MB of <': html(() => lines(fill('<', 900), MB - 9000)),
    'HTML: 28 MB of <': html(() => lines(fill('<', 900), 28 * MB)),
    'HTML: 1 MB of &amp; in a link': html(() => `<a href="http://a.example/?${fill('&amp;\r\n', MB - 9000)}">b</a>`),
    'HTML: 1 MB of quoted-printable links': relayed(
      () =>
        `Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${lines('<a href=3D"http://a.example/">b</a>=', MB - 9000)}\r\n`,
    ),
    'HTML: 28 MB of quoted-printable': relayed(
      () =>
        `Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${lines('=3D=20=', 28 * MB)}\r\n`,
    ),
    'HTML: 28 MB of base64': relayed(
      () => `Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(fill('PGE+', 76), 28 * MB)}`,
    ),
    'HTML: in UTF-7 and ISO-2022-JP': relayed(
      () =>
        `Content-Type: text/html; charset=iso-2022-jp\r\n\r\n${lines('\x1b$B$"\x1b(B<a href="http://a.example/">', MB - 9000)}`,
    ),
    'plain text: 1 MB of http://': relayed(
      () => `Content-Type: text/plain\r\n\r\n${lines(fill('http://', 900), MB - 9000)}`,
    ),
    'plain text: one link of 900 kB of brackets': relayed(
      () => `Content-Type: text/plain\r\n\r\nhttp://a.example/${fill('()', 900 * kB)}\r\n`,
    ),
    'MIME: parts in parts, 200 deep': relayed(
      () => `${many(200, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)}\r\nx\r\n`,
    ),
    'MIME: parts in parts that never end, 28 MB': relayed(
      () =>
        `${many(20, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)}\r\n${lines('--b', 28 * MB)}`,
    ),
    'MIME: 100,000 parts': relayed(
      () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${fill('--x\r\n\r\na\r\n', 2 * MB)}--x--\r\n`,
    ),
    'MIME: 28 MB of nearly a boundary': relayed(
      () => `Content-Type: multipart/mixed; boundary=${fill('-', 69)}a\r\n\r\n${lines(fill('-', 71), 28 * MB)}`,
    ),
    'MIME: a head of 500 kB in a part': relayed(
      () =>
        `Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n${lines('Content-A: b', 500 * kB)}\r\na\r\n--x--\r\n`,
    ),
    'MIME: a Content-Type of 400 kB of ;': relayed(
      () => `Content-Type: text/html${many(6000, () => fill(';a="\\', 70), '\r\n ')}\r\n\r\nx\r\n`,
    ),
    'composed: content of 28 MB': sent(() => ({ content: fill('All berths are taken. ', 28 * MB) })),
    'composed: content of 9 MB of é': sent(() => ({ content: fill('é', 9 * MB) })),
    'composed: content of 9 MB of =': sent(() => ({ content: fill('= \n', 9 * MB) })),
    'composed: content of 9 MB without a blank': sent(() => ({ content: fill('a', 9 * MB) })),
    'composed: a file of 20 MB': sent(() => ({
      attachments: [{ fileName: 'a.bin', fileContent: fill('YWJj', 26 * MB) }],
    })),
    'composed: 2,000 files': sent(() => ({
      attachments: Array.from({ length: 2000 }, (_, at) => ({
        fileName: `${fill('é', 200)}${at}.txt`,
        fileContent: 'YQ==',
      })),
    })),
    'composed: 200 recipients of 1 MB of merge tags': sent(() => ({
      content: fill('[%a%] ', MB),
      personalizations: Array.from({ length: 200 }, (_, at) => ({
        recipient: `r${at}@open.example`,
        attributes: { a: 'b' },
      })),
    })),
    'composed: 20 recipients of 1,000 links': sent(() => ({
      content: many(1000, (at) => `<a href="http://a.example/${at}?${fill('a=b&amp;', 400)}">b</a>`),
      personalizations: Array.from({ length: 20 }, (_, at) => ({ recipient: `r${at}@open.example` })),
    })),
    'composed: a tag with a value of 5 MB': sent(() => ({
      content: '[%a%] [%a%]',
      personalizations: [{ recipient: 'lena@open.example', attributes: { a: fill('b<&', 4 * MB) } }],
    })),
    'composed: a subject of 4,096 letters': sent(() => ({ subject: fill('𝔟', 4096) })),
    'composed: substitutions of 1,000 recipients': async (stage) => {
      const answer = await stage.mail({
        content: [{ type: 'text/html', value: fill('-k- ', 100 * kB) }],
        personalizations: Array.from({ length: 1000 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          substitutions: { '-k-': `v${at}` },
        })),
      })
      return settled(stage, answer)
    },
    'composed: substitution keys of 9,999': async (stage) => {
      const keys = Array.from({ length: 100 }, (_, at) => [`${fill('ab', 9990)}${at}`, 'b'])
      const answer = await stage.mail({
        content: [{ type: 'text/html', value: fill('ab', MB) }],
        personalizations: [{ to: [{ email: 'lena@open.example' }], substitutions: Object.fromEntries(keys) }],
      })
      return settled(stage, answer)
    },
    'composed: substitution keys of 9,900 that end differently': async (stage) => {
      const answer = await stage.mail({
        content: [{ type: 'text/html', value: fill('ab', MB) }],
        personalizations: Array.from({ length: 300 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          substitutions: { [`${fill('a', 9900)}${at}`]: 'b' },
        })),
      })
      return settled(stage, answer)
    },
    'composed: sections in sections': async (stage) => {
      const sections = Object.fromEntries([0, 1, 2, 3].map((at) => [`-s${at}-`, fill(`-s${at + 1}-`, 2000)]))
      const answer = await stage.mail({
        content: [{ type: 'text/html', value: fill('-k-', 300) }],
        sections,
        personalizations: [{ to: [{ email: 'lena@open.example' }], substitutions: { '-k-': '-s0-' } }],
      })
      return settled(stage, answer)
    },
    'remote: a greeting of 100 MB without an end': odd((socket) => flood(socket, 'x'.repeat(64 * kB), 1600)),
    'remote: a greeting of a million lines': odd((socket) => flood(socket, '220-x\r\n'.repeat(10_000), 100)),
    'remote: EHLO answered with a million lines': says('EHLO', () => `${'250-X\r\n'.repeat(MB)}250 X\r\n`),
    'remote: EHLO answered with 30,000 keywords in one line': says('EHLO', () => `250 ${'X '.repeat(30_000)}\r\n`),
    'remote: EHLO answered with 60 kB of AUTH': says(
      'EHLO',
      () => `250-odd\r\n250 AUTH ${'PLAIN '.repeat(10_000)}\r\n`,
    ),
    'remote: RCPT refused in 60 kB of digits and dots': says('RCPT', () => `550 ${'5.1.1 '.repeat(10_000)}\r\n`),
    'remote: RCPT refused in 60 kB of control characters': says('RCPT', () => `550 ${'\x1b[31m\0'.repeat(10_000)}\r\n`),
    'remote: RCPT refused in 900 lines of 900': says(
      'RCPT',
      () => `${`550-${'spam '.repeat(180)}\r\n`.repeat(900)}550 x\r\n`,
    ),
    'remote: the dot answered with a million lines': says('.', () => `${'250-X\r\n'.repeat(MB)}250 X\r\n`),
    'remote: the dot answered with 60 kB of blanks': says('.', () => `550${' '.repeat(60_000)}x\r\n`),
    'remote: lines of nothing': says('MAIL', () => '\r\n'.repeat(MB)),
    'remote: codes that are none': says('MAIL', () => '999-\r\n000 \r\n'.repeat(100_000)),
    'DNS: 1,000 MX records': zone((domain) => ({
      [domain]: { mx: Array.from({ length: 1000 }, (_, at) => [at, `m${at}.${domain}`] as const) },
    })),
    'DNS: MX names of 250 octets': zone((domain) => ({
      [domain]: { mx: Array.from({ length: 100 }, (_, at) => [1, `${fill('a.', 240)}a${at}`] as const) },
    })),
    'DNS: 1,000 addresses of one host': zone((domain) => ({
      [domain]: { mx: [[1, `m.${domain}`]] },
      [`m.${domain}`]: { a: Array.from({ length: 1000 }, (_, at) => `127.1.${at >> 8}.${at & 255}`) },
    })),
    'DNS: names that lead to themselves': zone((domain) => ({ [domain]: { cname: domain } })),
    'DNS: 5,000 domains at once': async (stage) => {
      for (let at = 0; at < 5000; at++) stage.dns.zones[`d${at}.example`] = { mx: [[0, '.']] }
      return settled(
        stage,
        await stage.send({
          personalizations: Array.from({ length: 5000 }, (_, at) => ({ recipient: `a@d${at}.example` })),
        }),
      )
    },
    'webhook: a receiver that answers 100 MB': hook((response) => {
      for (let at = 0; at < 1600; at++) response.write(Buffer.alloc(64 * kB, 'x'))
      response.end()
    }),
    'webhook: a receiver with 60 kB of header fields': hook((response) => {
      for (let at = 0; at < 500; at++) response.setHeader(`x-${at}`, 'a'.repeat(100))
      response.end('ok')
    }),
    'webhook: a receiver that sends interim answers for ten seconds': hook(({ socket }) => {
      const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)
      const until = Date.now() + 10_000
      const flood = (): void => {
        while (socket && !socket.destroyed && Date.now() < until && socket.write(interim));
        socket?.once('drain', flood)
      }
      flood()
    }),
    'webhook: a receiver that refuses in 64 kB of blanks': hook((response) => {
      response.statusCode = 400
      response.end(`${' '.repeat(64 * kB)}x`)
    }),
  },
  ['body: 28 MB of lines of tabs and letters', 'remote: EHLO answered with a million lines', 'HTML: 1 MB of <a href='],
)

async function settled(stage: Stage, answer: string): Promise<string> {
  if (/[0-9a-f]{32}/.test(answer)) return `${answer} ${await stage.delivered(answer)}`
  const [row] = await stage.service.sql<{ id: string }[]>`
    select replace(id::text, '-', '') as id from messages where account_id = ${stage.sender.accountId} order by id desc limit 1`
  return `${answer} ${answer.startsWith('2') ? await stage.delivered(row?.id ?? '') : ''}`
}

type Zones = Stage['dns']['zones']

function zone(make: (domain: string) => Zones): (stage: Stage) => Promise<string> {
  return async (stage) => {
    const domain = `z${++domains}.example`
    Object.assign(stage.dns.zones, make(domain))
    const answer = await stage.send({ personalizations: [{ recipient: `lena@${domain}` }] })
    return `${answer} ${await stage.delivered(answer)}`
  }
}

/** Writes so many pieces, as fast as the other side reads. */
function flood(socket: Socket, piece: string, count: number): void {
  let left = count
  const write = (): void => {
    while (left-- > 0 && !socket.destroyed) if (!socket.write(piece)) return
  }
  socket.on('drain', write)
  write()
}

type Answering = (response: import('node:http').ServerResponse) => void

/** A webhook whose receiver answers oddly once it was saved, and a message whose events it is told. */
function hook(answer: Answering): (stage: Stage) => Promise<string> {
  return async (stage) => {
    const teardowns: (() => unknown)[] = []
    const receiver = await startReceiver({ teardown: (act: () => unknown) => void teardowns.push(act) } as never)
    const saved = await stage.call('/v2/webhooks', { body: JSON.stringify({ url: receiver.url, events: 'all' }) })
    receiver.react = (_request, response) => answer(response)
    const sentOne = await settled(stage, await stage.send({}))
    await new Promise((resolve) => setTimeout(resolve, 2500))
    await stage.service.sql`update webhooks set enabled = false where account_id = ${stage.sender.accountId}`.catch(
      () => {},
    )
    for (const act of teardowns) await act()
    return `${saved.slice(0, 3)} ${sentOne}, asked ${receiver.requests.length} times`
  }
}
