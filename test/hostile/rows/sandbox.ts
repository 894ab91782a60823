import { SmtpClient } from '../../helpers/smtp-client.ts'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

/** The costliest search: all terms read the body, and none excludes the message before the last. */
const SEARCH = `/api/v1/search?query=${encodeURIComponent('-zzzzzzzz '.repeat(19))}`

/** A message into the inbox, then its pages and what Mailpit's API answers of it. */
const shown =
  (make: () => string, more: (id: string) => readonly string[] = () => []) =>
  async (stage: Stage) => {
    const { sandboxSmtpPort: port, sandboxHttpPort } = stage.service.config
    const client = await SmtpClient.connect({ teardown() {} } as never, { port })
    try {
      await client.reply()
      await client.command('EHLO a')
      const message = make()
      stage.octets += message.length
      const reply = await client.submit('a@b.example', 'c@d.example', message)
      const id = /stored as ([0-9a-f]{32})/.exec(reply)?.[1]
      if (id === undefined) return reply
      const statuses: number[] = []
      for (const path of ['/', `/view/${id}`, `/messages/${id}`, `/messages/${id}/html`, ...more(id)]) {
        const page = await fetch(`http://127.0.0.1:${sandboxHttpPort}${path}`)
        await page.arrayBuffer()
        statuses.push(page.status)
      }
      return `${reply.slice(0, 3)}, pages ${statuses.join(' ')}`
    } finally {
      client.destroy()
    }
  }
const html = (make: () => string, more?: (id: string) => readonly string[]) =>
  shown(() => `Subject: a\r\nContent-Type: text/html\r\n\r\n${make()}\r\n`, more)
/** What judges the links and the HTML of a message. */
const judged = (id: string) => [
  ...['links', 'checks', 'support'].map((part) => `/view/${id}?part=${part}`),
  ...['', '/headers', '/html-check'].map((part) => `/api/v1/message/${id}${part}`),
  SEARCH,
]

/** The sandbox inbox: what came in, and the pages that show it. */
export const SANDBOX = rowsOf('sandbox', {
  'inbox: HTML of 5 MB of <div>': html(() => fill('<div>\r\n', 4.9 * MB)),
  'inbox: HTML of 5 MB of <': html(() => fill('<<<<<<<<\r\n', 4.9 * MB)),
  'inbox: HTML of 5 MB of "': html(() => fill('"', 4.9 * MB)),
  'inbox: a style sheet of 5 MB of {': html(() => `<style>${fill('{', 4.9 * MB)}`, judged),
  'inbox: a style sheet of 5 MB of declarations': html(
    () => `<style>a{${fill('width:calc(1px + var(--a));\r\n', 4.9 * MB)}`,
    judged,
  ),
  'inbox: a style sheet of 5 MB of comments': html(() => `<style>${fill('/*', 4.9 * MB)}`, judged),
  'inbox: 5 MB of style attributes': html(() => fill('<a style="color:rgb(1,2,3)">\r\n', 4.9 * MB), judged),
  'inbox: 5 MB of links': html(() => many(200_000, (at) => `<a href=${at}>x`, '\r\n'), judged),
  'inbox: List-Unsubscribe of 1 MB of <': shown(() => `List-Unsubscribe: ${fill('<', MB)}\r\n\r\nx\r\n`, judged),
  'inbox: plain text of 5 MB of http://': shown(() => `Subject: a\r\n\r\n${fill('http://a.example/ \r\n', 4.9 * MB)}`),
  'inbox: plain text of 5 MB of line ends': shown(() => `Subject: a\r\n\r\n${fill('\r\n', 4.9 * MB)}`),
  'inbox: HTML of 5 MB of ISO-2022-JP': shown(
    () => `Subject: a\r\nContent-Type: text/html; charset=iso-2022-jp\r\n\r\n${fill('a', 4.9 * MB)}\r\n`,
  ),
  'inbox: 100,000 header fields': shown(() => `${fill('A: b\r\n', 600 * kB)}\r\nx\r\n`),
  'inbox: a subject of 2 MB of encoded words': shown(
    () => `Subject: ${many(80_000, () => '=?utf-8?Q?a?=', '\r\n ')}\r\n\r\nx\r\n`,
  ),
  'inbox: a subject of words of 50,000 charsets': shown(
    () => `Subject: ${many(50_000, (at) => `=?x${at}?Q?=e4?=`, ' ')}\r\n\r\nx\r\n`,
  ),
  'inbox: 5 MB of a charset that is missing': html(() => fill('\xe4<meta ', 4.9 * MB)),
  'inbox: 5 MB of hz-gb-2312': shown(
    () => `Subject: a\r\nContent-Type: text/plain; charset=hz-gb-2312\r\n\r\n${fill('~{!!~{', 4.9 * MB)}\r\n`,
  ),
  'inbox: MB of blanks behind boundaries': shown(
    () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${fill(`--x${fill(' \t', 10 * kB)}\r\n\r\na\r\n`, 4 * MB)}`,
  ),
  'inbox: To of 2 MB of (': shown(() => `To: ${fill('(', 2 * MB)}\r\n\r\nx\r\n`),
  'inbox: To of 2 MB of addresses': shown(() => `To: ${many(150_000, () => 'a@b.example', ',\r\n ')}\r\n\r\nx\r\n`),
  'inbox: parts in parts, 1,000 deep': shown(
    () => `${many(1000, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)}\r\nx\r\n`,
  ),
  'inbox: 100,000 parts': shown(
    () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${fill('--x\r\n\r\na\r\n', MB)}--x--\r\n`,
  ),
  'inbox: a Content-Type of 10,000 name*N': shown(
    () => `Content-Type: text/plain;\r\n ${many(10_000, (at) => `name*${at}=a`, ';\r\n ')}\r\n\r\nx\r\n`,
  ),
  'inbox: a message of 28 MB': shown(() => `Subject: a\r\n\r\n${fill(`${fill('a', 74)}\r\n`, 28 * MB)}`),
  'inbox: 28 MB of header': shown(() => fill('A: b\r\n', 28 * MB)),
})
