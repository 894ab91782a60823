import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import t from 'tap'
import { ATTACHMENT, EIGHT_BIT_BODIES, FILE_NAMES } from '../delivery/eight-bit-bodies.ts'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { CORRECTED, commonFields } from '../relay/conformance/corrected-headers.ts'
import { ENCODED } from '../relay/conformance/encoded-bodies.ts'
import { openSession } from '../relay/session.ts'
import { oddMessages } from './odd-messages.ts'

const ODD = Number(process.env.ODD ?? 100)

interface Leaf {
  readonly type: string
  readonly name: string | null
  readonly disposition: string | null
  readonly content: string
}

/** A message as a program reads it. */
interface Reading {
  readonly subject: string
  readonly addresses: Readonly<Record<'from' | 'to' | 'cc', readonly string[]>>
  readonly leaves: readonly Leaf[]
  readonly defects: readonly string[]
}

interface Row {
  readonly what: string
  readonly message: string
  /** Checks what mailparser reads. */
  readonly isMeant?: (mail: ParsedMail) => boolean
}

/** The inputs of test/relay/conformance and test/delivery/server-abilities.test.ts, and odd messages. */
function rowsFor(domain: string): Row[] {
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
  const header = `From: Ship Desk <desk@${domain}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`
  return [
    ...ENCODED.map(({ what, message, read, found }) => ({
      what,
      message: `${header}${message}`,
      isMeant: (mail: ParsedMail) => isSame(read(mail), found) && mail.subject === 'Berth 4',
    })),
    ...CORRECTED.map(({ written, read, found }) => ({
      what: JSON.stringify(written).slice(0, 60),
      message: `${commonFields(domain)}${written.replace('#', domain)}\r\nhello\r\n`,
      isMeant: (mail: ParsedMail) => !read || isSame(read(mail), found),
    })),
    ...EIGHT_BIT_BODIES.map(([what, message, _note, text]) => ({
      what,
      message: `${header}${message}`,
      isMeant: (mail: ParsedMail) => bare(`${mail.text}${mail.html}`).includes(bare(text)),
    })),
    ...FILE_NAMES.map(([what, name, found]) => ({
      what: `a file name ${what}`,
      message: `${header}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${ATTACHMENT.replace('#', name)}`,
      isMeant: ({ attachments: [file] }: ParsedMail) => file?.filename === found && file.content.toString() === 'Hällo',
    })),
    ...oddMessages(ODD, domain).map((message, at) => ({
      what: `odd ${at}`,
      message: `From: desk@${domain}\r\n${message}`,
    })),
  ]
}

const READERS = [
  ['python3', 'read-mail.py'],
  ['perl', 'read-mail.pl'],
] as const

function readingsOf([program, script]: (typeof READERS)[number], files: readonly string[]): Reading[] {
  const path = new URL(`./${script}`, import.meta.url).pathname
  const lines = execFileSync(program, [path, ...files], { encoding: 'utf8', maxBuffer: 1e9 })
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as Reading)
}

/** What all three readers can be compared by; white space is left out, since they keep different line ends. */
interface View {
  readonly subject: string
  readonly addresses: string
  readonly text: string
  readonly html: string
  readonly files: string
}

const bare = (text: string): string => text.replace(/\s+/g, '')
const isShown = ({ type, disposition }: Leaf): boolean =>
  /^text\/(?:plain|html)$|^message\/delivery-status$/.test(type) && (disposition ?? 'inline') === 'inline'

function viewOf({ subject, addresses, leaves }: Reading): View {
  const content = (leaf: Leaf): string => bare(Buffer.from(leaf.content, 'base64').toString())
  const shown = (isHtml: boolean): string =>
    leaves
      .filter((leaf) => isShown(leaf) && (leaf.type === 'text/html') === isHtml)
      .map(content)
      .join('')
  return {
    subject: bare(subject),
    addresses: JSON.stringify([addresses.from, addresses.to, addresses.cc]),
    text: shown(false),
    html: shown(true),
    files: leaves
      .filter((leaf) => !isShown(leaf))
      .map((leaf) => `${leaf.type} ${leaf.name ?? ''} ${content(leaf)}`)
      .join('\n'),
  }
}

function viewOfMailparser(mail: ParsedMail): View {
  const addresses = [mail.from, mail.to, mail.cc].map((field) =>
    [field ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address ?? '')),
  )
  return {
    subject: bare(mail.subject ?? ''),
    addresses: JSON.stringify(addresses),
    text: bare(mail.text ?? ''),
    html: bare(mail.html || '').replaceAll('<br/>', ''),
    files: mail.attachments
      .map(({ headers, contentType, filename, content }) => {
        // It derives the type of a file without one from its name.
        const { value = contentType } = (headers.get('content-type') ?? {}) as { value?: string }
        return `${value.toLowerCase()} ${filename ?? ''} ${bare(content.toString())}`
      })
      .join('\n'),
  }
}

/** Findings at a server with 8BITMIME that stay: what a client wrote itself reaches it unchanged (docs/specifications.md). */
const UNCHANGED = [
  // Raw bytes, an encoded word in quotes (RFC 2047 5), and two names.
  /^a file name (?:in|with) .*: python3 finds Content-Disposition: (?:UndecodableBytes|InvalidHeader)Defect$/,
  // It reads raw bytes as Latin-1.
  /^a file name (?:in|with) .*: perl reads files as text\/plain F.*\u00c3/,
]

/** Readings of mailparser that the others do not share. */
const OF_MAILPARSER = [
  // It joins the text of a message that is shown to that of the one around it.
  /^a message shown within another: \w+ reads (?:text|files) as /,
  // It takes a comment before a type for a part of it.
  /^a part with comments before its type and encoding: perl reads (?:html|files) as .*mailparser as (?:$|\(a page\) text\/html)/,
]

const missing = READERS.map(([program]) => program).find((program) => spawnSync(program, ['--version']).status !== 0)
const hasModules = spawnSync('perl', ['-MMIME::Parser', '-MMail::Address', '-e', '1']).status === 0
const lacks = missing ?? (hasModules ? undefined : 'MIME::Parser (libmime-tools-perl)')

for (const [server, extensions] of [
  ['a server', undefined],
  ['a server without 8BITMIME and SMTPUTF8', ['PIPELINING', 'SIZE 50000000']],
] as const) {
  t.test(
    `Python's email and MIME::Parser read what was meant in all mail that ${server} gets`,
    { timeout: 1_800_000, skip: lacks === undefined ? false : `it needs ${lacks}` },
    async (t) => {
      const sink = await startSink(t, extensions ? { extensions } : {})
      const { service, sender } = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
      await service.openRelay()
      const desk = `desk@${sender.domain}`
      const folder = mkdtempSync(join(tmpdir(), 'postrider-readers-'))
      t.teardown(() => rmSync(folder, { recursive: true, force: true }))
      const client = await openSession(t, service, sender)
      const rows = rowsFor(sender.domain)
      const refused: string[] = []
      const sent = new Set<number>()
      for (const [at, { what, message }] of rows.entries()) {
        const octets = Buffer.from(`X-Number: ${at}\r\n${message}`, what.startsWith('odd') ? 'latin1' : 'utf8')
        writeFileSync(join(folder, `${at}.sent`), octets)
        const reply = await client.submit(desk, 'lena@harbor.example', octets)
        if (reply.startsWith('250 ')) sent.add(at)
        else refused.push(`${what}: ${reply}`)
      }
      await until('all mail at the sink', () => sink.messages.length >= sent.size, 300_000).catch(() => undefined)
      t.comment(`figures: ${rows.length} messages, ${sent.size} accepted, ${sink.messages.length} arrived`)
      t.comment(`figures: refused ${JSON.stringify(refused)}`)
      t.equal(sink.messages.length, sent.size)

      const arrived = sink.messages.map(({ data }) => {
        const at = Number(/^X-Number: (\d+)\r$/m.exec(data.toString('latin1'))?.[1])
        const file = join(folder, `${at}.arrived`)
        writeFileSync(file, data)
        return { at, file, data }
      })
      const findings: string[] = []
      const mails = await Promise.all(
        arrived.map(({ data }) => simpleParser(data, { skipTextToHtml: true, skipHtmlToText: true })),
      )
      for (const [index, mail] of mails.entries()) {
        const row = rows[arrived[index]?.at ?? -1]
        if (row?.isMeant && !row.isMeant(mail)) findings.push(`${row.what}: mailparser does not read what was meant`)
      }
      for (const reader of READERS) {
        const readings = readingsOf(
          reader,
          arrived.map(({ file }) => file),
        )
        const before = readingsOf(
          reader,
          arrived.map(({ at }) => join(folder, `${at}.sent`)),
        )
        for (const [index, reading] of readings.entries()) {
          const what = `${rows[arrived[index]?.at ?? -1]?.what}: ${reader[0]}`
          // Odd messages have defects that are not corrected.
          const own = new Set(what.startsWith('odd') ? before[index]?.defects : [])
          for (const defect of reading.defects) if (!own.has(defect)) findings.push(`${what} finds ${defect}`)
          const [found, expected] = [viewOf(reading), viewOfMailparser(mails[index] as ParsedMail)]
          for (const key of Object.keys(found) as (keyof View)[])
            if (found[key] !== expected[key])
              findings.push(
                `${what} reads ${key} as ${found[key].slice(0, 90)}, mailparser as ${expected[key].slice(0, 90)}`,
              )
        }
      }
      const expected = [...OF_MAILPARSER, ...(extensions ? [] : UNCHANGED)]
      const unexpected = findings.filter((finding) => !expected.some((pattern) => pattern.test(finding)))
      t.comment(`figures: ${findings.length} findings, ${unexpected.length} of them unexpected`)
      t.strictSame(unexpected, [])
    },
  )
}
