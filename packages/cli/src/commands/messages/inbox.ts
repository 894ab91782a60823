import { commandLines, readable } from '@postrider/core'
import { type Call, type Command, CommandError, limitOption, requiredWord } from '../../command.ts'
import { sandboxUrl } from '../../first-run.ts'
import { table } from '../../table.ts'

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
    usage: '[--limit N]',
    summary: 'List the messages in the sandbox inbox, newest first',
    async run(call) {
      const limit = limitOption(call)
      const all = (await (await request(call, '/messages')).json()) as InboxEntry[]
      const entries = all.toReversed().slice(0, limit)
      const rows = entries.map(({ id, receivedAt, to, subject }) => [id, receivedAt, to, subject])
      const heading = ['id', 'received', 'to', 'subject']
      const lines = [
        rows.length > 0
          ? table(heading, rows, { minor: ['received'], tight: ['to', 'subject'] })
          : 'the inbox is empty',
        ...(all.length > limit ? [`older messages: ${all.length - limit}; show them with --limit`] : []),
      ]
      return { data: entries, text: lines.join('\n') }
    },
  },
  {
    name: 'inbox show',
    usage: 'ID [--raw]',
    summary: 'Show a message in the sandbox inbox',
    parameters: { raw: 'Show its original bytes' },
    async run(call) {
      const id = encodeURIComponent(requiredWord(call, 'message id'))
      if (call.options.raw) {
        const raw = Buffer.from(await (await request(call, `/messages/${id}/raw`)).arrayBuffer())
        return { data: { raw: raw.toString('latin1') }, text: raw }
      }
      const message = (await (await request(call, `/messages/${id}`)).json()) as InboxEntry & {
        headers: readonly { readonly name: string; readonly value: string }[]
        text: string | null
        html: string | null
      }
      const { to, subject, receivedAt, text, html } = message
      const from = message.headers.find(({ name }) => name.toLowerCase() === 'from')
      const lines = [
        `From:        ${from ? readable(from.value.replace(/\r?\n/g, '')) : ''}`,
        `To:          ${to}`,
        `Return path: ${message.from || '<>'}`,
        `Received:    ${receivedAt}`,
        `Subject:     ${subject}`,
      ]
      return {
        data: message,
        text: `${lines.join('\n')}\n\n${text ?? html ?? ''}`,
      }
    },
  },
]

/** Throws {@link CommandError} if the sandbox does not respond or has no such message. */
async function request({ config }: Call, path: string): Promise<Response> {
  const url = `${sandboxUrl(config)}${path}`
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  if (!response)
    throw new CommandError(`could not reach the sandbox at ${url}; start it with "${commandLines().start}"`)
  if (response.status === 404) throw new CommandError('message not found in the inbox; "inbox list" lists the ids')
  if (!response.ok) throw new CommandError(`the sandbox responded with status ${response.status}`)
  return response
}
