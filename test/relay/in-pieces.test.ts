import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stoppable } from '@postrider/core'
import t from 'tap'
import { readControls } from '../../packages/core/src/raw/control-headers.ts'
import { splitHeader, withoutFields } from '../../packages/core/src/raw/header.ts'
import { readSmtpApi } from '../../packages/core/src/raw/smtpapi/smtpapi.ts'
import { CommandStream } from '../../packages/relay/src/smtp/command-stream.ts'

const PIECE = Buffer.from('\r\n'.repeat(32 * 1024))

t.test('what a session sends at once is worked off over several turns, in which others are served', async (t) => {
  const parser = new CommandStream()
  const message = parser.startDataMode(1e9)
  let octets = 0
  message.on('data', ({ length }: Buffer) => (octets += length))
  const ended = new Promise((resolve) => message.once('end', resolve))
  const all = 256 * PIECE.length
  for (let piece = 0; piece < 256; piece++) parser.write(PIECE)
  parser.write('.\r\n')
  await nextTurn()
  t.ok(octets < all / 2, `${octets} of ${all} octets at once`)
  await ended
  t.equal(octets, all)
})

/** What work comes to, and how often it stops on the way. */
function stopsOf<T>(work: Stoppable<T>): { stops: number; value: T } {
  for (let stops = 0; ; stops++) {
    const { done, value } = work.next()
    if (done) return { stops, value }
  }
}

t.test('a header of ten thousand fields is split, and cleared of fields, in pieces', (t) => {
  const message = Buffer.from(`${'Bcc:\r\nA:\r\n'.repeat(5000)}\r\nhello\r\n`)
  const { stops, value } = stopsOf(splitHeader(message))
  t.equal(value.fields.length, 10_000)
  t.ok(stops > 15, `${stops}`)
  const removed = value.fields.filter(({ name }) => name === 'bcc')
  const cleared = stopsOf(withoutFields(message, removed))
  t.equal(cleared.value.toString(), `${'A:\r\n'.repeat(5000)}\r\nhello\r\n`)
  t.ok(cleared.stops > 5, `${cleared.stops}`)
  t.end()
})

t.test('encoded words without number are decoded in pieces, in control fields and in X-SMTPAPI', (t) => {
  const words = Array.from({ length: 9000 }, () => '=?iso-2022-jp?Q?a?= =?us-ascii?Q?b?=').join('\r\n ')
  const { fields } = stopsOf(splitHeader(Buffer.from(`X-SETTINGS: ${words}\r\n\r\n`))).value
  const controls = readControls(fields)
  let stops = 0
  t.throws(
    () => {
      for (; !controls.next().done; stops++);
    },
    { message: /X-SETTINGS/ },
  )
  t.ok(stops > 50, `${stops}`)
  const api = stopsOf(readSmtpApi(words, new Date(0)))
  t.equal(api.value.kind, 'wrong')
  t.ok(api.stops > 50, `${api.stops}`)
  t.end()
})

t.test('attributes that are nested deep are refused before they are parsed', (t) => {
  const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  const { fields } = stopsOf(splitHeader(Buffer.from(`X-ATTRIBUTES: ${deep}\r\n\r\n`))).value
  t.throws(() => stopsOf(readControls(fields)), { message: /X-ATTRIBUTES.*must be a JSON object/ })
  t.end()
})
