import t from 'tap'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSession, queueId } from '../relay/session.ts'
import { realMails } from './real-mails.ts'

/** Fields that no recipient gets (docs/specifications.md). */
const REMOVED = /^(?:Bcc|Resent-Bcc|Return-Path|Content-Length)[ \t]*:[^\r]*\r\n(?:[ \t][^\r]*\r\n)*/gim

/** A message from its number on, as a recipient should get it. */
function expected(sent: string): string {
  const end = sent.indexOf('\r\n\r\n') + 2
  const whole = end < 2 ? sent.replace(REMOVED, '') : sent.slice(0, end).replace(REMOVED, '') + sent.slice(end)
  return whole.endsWith('\r\n') ? whole : `${whole}\r\n`
}

const skip = process.env.MAILS || process.env.CORPORA ? false : 'it needs mails: MAILS or CORPORA'

t.test(
  'what is not corrected, or in the header alone, arrives octet for octet, and each correction is named',
  { timeout: 1_800_000, skip },
  async (t) => {
    const sink = await startSink(t)
    const { service, sender, inState } = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    await service.openRelay()
    const desk = `desk@${sender.domain}`
    const client = await openSession(t, service, sender)
    const refused = new Map<string, number>()
    const corrections = new Map<string, number>()
    const count = (map: Map<string, number>, text: string): void => void map.set(text, (map.get(text) ?? 0) + 1)
    const sent = new Map<string, { readonly message: string; readonly corrected: readonly string[] }>()
    const ids: string[] = []
    const mails = realMails()
    for (const [at, mail] of mails.entries()) {
      const message = `X-Number: ${at}\r\nFrom: ${desk}\r\n${mail}`
      const reply = await client.submit(desk, 'lena@quay.example', Buffer.from(message, 'latin1'))
      if (!reply.startsWith('250 ')) {
        count(refused, reply.replace(/\d+/g, '#'))
        continue
      }
      ids.push(queueId(reply))
      const corrected = /\((.+)\)$/.exec(reply)?.[1]?.split('; ') ?? []
      for (const one of corrected) count(corrections, one.replace(/\d+/g, '#'))
      sent.set(String(at), { message, corrected })
    }
    for (const id of ids) await inState(id, 'delivered')
    await until('all mail at the sink', () => sink.messages.length >= ids.length)

    let equal = 0
    const different: string[] = []
    for (const { data } of sink.messages) {
      const text = data.toString('latin1')
      const number = /^X-Number: (\d+)\r$/m.exec(text)?.[1] ?? ''
      const { message, corrected } = sent.get(number) ?? { message: '', corrected: [] }
      if (text.slice(text.indexOf('X-Number: ')) === expected(message)) equal += 1
      else if (corrected.length === 0) different.push(number)
      else if (!corrected.some((one) => /encoded$/.test(one))) {
        const body = (whole: string): string => whole.slice(whole.indexOf('\r\n\r\n') + 1 || whole.length)
        if (body(text) !== body(expected(message))) different.push(`${number}: ${corrected.join('; ')}`)
      }
    }
    t.comment(`figures: ${mails.length} mails, ${ids.length} accepted, ${equal} arrived octet for octet`)
    t.comment(`figures: refused ${JSON.stringify(Object.fromEntries(refused))}`)
    t.comment(`figures: corrected ${JSON.stringify(Object.fromEntries(corrections))}`)
    t.strictSame(different, [], 'no other one was changed')
  },
)
