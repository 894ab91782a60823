import type { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import type { Inbox } from '../inbox.ts'
import { BadRequest, type Fields, textOf, textsOf } from './request-body.ts'

const MAX_RECIPIENTS = 100
const MAX_ATTACHMENTS = 100
const NAME = /^[!-9;-~]{1,200}$/

interface Address {
  readonly name: string
  readonly address: string
}

/** Puts a message that a program describes into the inbox, as Mailpit's `POST /api/v1/send` does. Returns the id of the message. */
export async function storeSent(inbox: Inbox, fields: Fields): Promise<string> {
  const from = addressOf(fields.From, 'From')
  const [to, cc, replyTo] = ['To', 'Cc', 'ReplyTo'].map((name) => addressesOf(fields, name)) as [
    Address[],
    Address[],
    Address[],
  ]
  const bcc = textsOf(fields, 'Bcc').map((address) => ({ name: '', address }))
  const recipients = [...to, ...cc, ...bcc].map(({ address }) => address)
  if (recipients.length > MAX_RECIPIENTS) throw new BadRequest(`To: at most ${MAX_RECIPIENTS} recipients`)
  const composer = createTransport({
    streamTransport: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { message } = await composer.sendMail({
    from,
    to,
    cc,
    replyTo,
    subject: textOf(fields, 'Subject'),
    text: textOf(fields, 'Text'),
    ...(textOf(fields, 'HTML') ? { html: textOf(fields, 'HTML') } : {}),
    headers: headersOf(fields),
    attachments: attachmentsOf(fields),
  })
  const received = await inbox.receive(message as Readable)
  try {
    const tags = textsOf(fields, 'Tags')
    let id = ''
    for (const address of recipients.length > 0 ? recipients : [from.address]) {
      const entry = await inbox.add(from.address, address, { ...received, tags: [...received.tags, ...tags] })
      id ||= entry.id
    }
    return id
  } finally {
    await inbox.discard(received)
  }
}

function addressesOf(fields: Fields, name: string): Address[] {
  const given = fields[name] ?? []
  if (!Array.isArray(given)) throw new BadRequest(`${name}: must be a list`)
  return given.slice(0, MAX_RECIPIENTS + 1).map((one) => addressOf(one, name))
}

function addressOf(given: unknown, name: string): Address {
  const fields = objectOf(given, name)
  const address = textOf(fields, 'Email')
  if (!/^[^\s@<>]{1,64}@[^\s@<>]{1,253}$/.test(address)) throw new BadRequest(`${name}.Email: must be an email address`)
  return { name: textOf(fields, 'Name').slice(0, 320), address }
}

function headersOf(fields: Fields): Record<string, string> {
  const entries = Object.entries(objectOf(fields.Headers ?? {}, 'Headers')).slice(0, 100)
  if (!entries.every(([name, value]) => NAME.test(name) && typeof value === 'string'))
    throw new BadRequest('Headers: must be names of fields with texts')
  return Object.fromEntries(entries) as Record<string, string>
}

function attachmentsOf(fields: Fields) {
  const given = fields.Attachments ?? []
  if (!Array.isArray(given) || given.length > MAX_ATTACHMENTS)
    throw new BadRequest(`Attachments: must be a list of at most ${MAX_ATTACHMENTS}`)
  return given.map((one) => {
    const attachment = objectOf(one, 'Attachments')
    const [type, cid] = [textOf(attachment, 'ContentType'), textOf(attachment, 'ContentID')]
    return {
      filename: textOf(attachment, 'Filename'),
      content: Buffer.from(textOf(attachment, 'Content'), 'base64'),
      ...(type ? { contentType: type } : {}),
      ...(cid ? { cid, contentDisposition: 'inline' as const } : {}),
    }
  })
}

function objectOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest(`${name}: must be an object`)
  return value as Fields
}
