import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const WORDS = (
  'the order of your harbour berth ship lamp rope sail north wind evening boat captain payment receipt invoice number total weight ' +
  'cargo delivery quay pilot tide anchor crew mast chart route signal storm rain calm morning letter address street port customs ' +
  'paper seal crate barrel'
).split(' ')

/** Numbers that look random and are the same in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Text that shrinks about as well as mail does. */
export function prose(octets: number, seed: number): string {
  const random = generator(seed)
  let text = ''
  while (text.length < octets) {
    let line = '<p style="margin:0 0 12px">'
    while (line.length < 70) line += `${WORDS[Math.floor(random() * WORDS.length)]} ${Math.floor(random() * 1000)} `
    text += `${line}</p>\r\n`
  }
  return text.slice(0, octets - 2).replace(/\r?$/, '\r\n')
}

/** What does not shrink: an attachment. */
function attachment(octets: number, seed: number): string {
  const random = generator(seed)
  const raw = Buffer.alloc(Math.floor(octets * 0.73))
  for (let at = 0; at < raw.length; at++) raw[at] = Math.floor(random() * 256)
  return raw.toString('base64').replace(/.{76}/g, '$&\r\n')
}

/** A whole message: HTML up to 20 kB; above that 10 kB of HTML and a file. */
export function makeMessage(from: string, octets: number): string {
  const head = [
    `From: Harbour <${from}>`,
    'To: someone@harbor.example',
    'Subject: Your berth',
    'Date: Fri, 20 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
  ].join('\r\n')
  if (octets <= 20_000) {
    const start = `${head}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n`
    return start + prose(octets - start.length, 7)
  }
  const start = `${head}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n`
  const middle = `--b\r\nContent-Type: application/pdf; name=plan.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  return `${start}${prose(10_000, 7)}${middle}${attachment(octets - 10_400, 11)}\r\n--b--\r\n`
}

/** The same as a file for smtp-source, which wants LF line ends. */
export function messageFile(from: string, octets: number): string {
  const path = join(mkdtempSync(join(tmpdir(), 'postrider-bench-message-')), 'message')
  writeFileSync(path, makeMessage(from, octets).replaceAll('\r\n', '\n'), { mode: 0o644 })
  return path
}

/** A v2 call of about so many octets. */
export function makeCall(from: string, octets: number, recipients: number): string {
  return JSON.stringify({
    from: { fromEmail: from, fromName: 'Harbour' },
    subject: 'Your berth',
    content: prose(octets, 7),
    personalizations: Array.from({ length: recipients }, (_none, at) => ({ recipient: `someone${at}@harbor.example` })),
  })
}

/** The same number of messages, each with its own subject and content. */
export function makeBatch(from: string, octets: number, messages: number): string {
  return JSON.stringify({
    messages: Array.from({ length: messages }, (_none, at) => ({
      from: { fromEmail: from, fromName: 'Harbour' },
      subject: `Your berth ${at}`,
      content: prose(octets, at),
      personalizations: [{ recipient: `someone${at}@harbor.example` }],
    })),
  })
}
