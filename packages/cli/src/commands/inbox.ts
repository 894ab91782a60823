import { type Call, type Command, CommandError, requiredWord, table } from '../command.ts'
import { sandboxUrl } from '../first-run.ts'

interface InboxEntry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly receivedAt: string
}

export const inboxCommands: readonly Command[] = [
  {
    name: 'inbox list',
    usage: '',
    summary: 'list what the sandbox inbox has received, newest last',
    options: {},
    async run(call) {
      const entries = (await (await ask(call, '/messages')).json()) as InboxEntry[]
      const rows = entries.map(({ id, receivedAt, to, subject }) => [id, receivedAt, to, subject])
      return { data: entries, text: table(['id', 'received', 'to', 'subject'], rows) }
    },
  },
  {
    name: 'inbox show',
    usage: 'ID [--raw]',
    summary: 'show one message of the sandbox inbox; --raw: octet for octet',
    words: 1,
    options: { raw: { type: 'boolean' } },
    async run(call) {
      const id = encodeURIComponent(requiredWord(call, 'the message id'))
      if (call.options.raw) {
        const raw = Buffer.from(await (await ask(call, `/messages/${id}/raw`)).arrayBuffer())
        return { data: { raw: raw.toString('latin1') }, text: raw }
      }
      const message = (await (await ask(call, `/messages/${id}`)).json()) as InboxEntry & {
        text: string | null
        html: string | null
      }
      const { from, to, subject, receivedAt, text, html } = message
      return {
        data: message,
        text: `From:     ${from}\nTo:       ${to}\nReceived: ${receivedAt}\nSubject:  ${subject}\n\n${text ?? html ?? ''}`,
      }
    },
  },
]

/** Throws {@link CommandError} when the sandbox does not answer or has no such message. */
async function ask({ config }: Call, path: string): Promise<Response> {
  const url = `${sandboxUrl(config)}${path}`
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  if (!response) throw new CommandError(`the sandbox does not answer at ${url}: is it running (npm start)?`)
  if (response.status === 404)
    throw new CommandError('there is no such message in the inbox: "inbox list" shows the ids')
  if (!response.ok) throw new CommandError(`the sandbox answered ${response.status}`)
  return response
}
