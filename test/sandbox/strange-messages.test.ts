import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mail, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

const nested = (depth: number): string => {
  const open = Array.from(
    { length: depth },
    (_none, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  )
  return `${open.join('')}Content-Type: text/plain\r\n\r\ndeep\r\n`
}

/** Messages no composer would write, and what the inbox has to say of each: its subject. */
const STRANGE: readonly (readonly [what: string, message: string | Buffer, subject: string])[] = [
  ['nothing at all', '', ''],
  ['a header without a body', 'Subject: Short\r\n', 'Short'],
  ['a body without a header', '\r\nonly a body\r\n', ''],
  ['lines that are no fields', 'no field here\r\n: nameless\r\nSubject: Found\r\n\r\nx\r\n', 'Found'],
  ['no subject', mail('X-None: 1'), ''],
  ['an encoded word of an unknown charset', mail('Subject: =?x-unknown?q?caf=E9?='), 'café'],
  ['an encoded word cut short', mail('Subject: =?utf-8?B?Q'), '=?utf-8?B?Q'],
  ['octets that are no UTF-8', Buffer.from(mail('Subject: a\xff\xfeb'), 'latin1'), '*'],
  ['NUL octets', mail('Subject: a\0b', 'x\0y\r\n'), '*'],
  ['a boundary that never comes', mail('Subject: Open\r\nContent-Type: multipart/mixed; boundary=never'), 'Open'],
  ['a multipart without a boundary', mail('Subject: Bound\r\nContent-Type: multipart/mixed'), 'Bound'],
  ['a thousand parts within each other', `Subject: Deep\r\nMIME-Version: 1.0\r\n${nested(1000)}`, 'Deep'],
  ['base64 that is none', mail('Subject: B64\r\nContent-Transfer-Encoding: base64', '!!!!\r\n'), 'B64'],
  ['an unknown transfer encoding', mail('Subject: Enc\r\nContent-Transfer-Encoding: x-rot13', 'uryyb\r\n'), 'Enc'],
  ['an unknown charset', mail('Subject: Set\r\nContent-Type: text/plain; charset=x-klingon'), 'Set'],
  ['a content type that is none', mail('Subject: Type\r\nContent-Type: ;;;=/'), 'Type'],
  ['a date that is none', mail('Subject: Date\r\nDate: yesterday'), 'Date'],
  ['a subject twice', mail('Subject: One\r\nSubject: Two'), '*'],
  ['a field of 100,000 octets', mail(`Subject: Long\r\nX-Long: ${'x'.repeat(100_000)}`), 'Long'],
  ['ten thousand fields', mail(`Subject: Many\r\n${'X-Many: y\r\n'.repeat(10_000)}X-Last: z`), 'Many'],
  ['a field called __proto__', mail('Subject: Proto\r\n__proto__: x\r\nconstructor: y'), 'Proto'],
  ['six megabytes', mail('Subject: Large', `${'x'.repeat(78)}\r\n`.repeat(80_000)), 'Large'],
]

for (const [what, message, subject] of STRANGE) {
  t.test(`a message with ${what} is taken, listed, shown and kept as it is`, async (t) => {
    const entry = await sandbox.store(t, message)
    if (subject !== '*') t.equal(entry.subject, subject)
    const answers = await Promise.all(
      ['/', `/messages/${entry.id}`, `/view/${entry.id}`].map((path) => fetch(`${sandbox.url}${path}`)),
    )
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    const shown = (await answers[1]?.json()) as Record<string, unknown>
    t.match(shown, { ...entry })
    const members = ['sender', 'headers', 'text', 'html', 'attachments', 'recipients', 'links', 'codes']
    t.strictSame(Object.keys(shown).slice(5), members)
    const raw = Buffer.from(await (await fetch(`${sandbox.url}/messages/${entry.id}/raw`)).arrayBuffer())
    t.ok(raw.equals(Buffer.from(message)))
  })
}

t.test('a message whose file was removed gets 404, and the rest is shown', async (t) => {
  const entry = await sandbox.store(t, mail('Subject: Gone'))
  rmSync(join(sandbox.folder, `${entry.id}.eml`))
  for (const path of [`/messages/${entry.id}`, `/messages/${entry.id}/raw`, `/view/${entry.id}`]) {
    t.equal((await fetch(`${sandbox.url}${path}`)).status, 404)
  }
  t.equal((await fetch(sandbox.url)).status, 200)
})
