import { createTransport } from 'nodemailer'
import { MessageOctets } from '../../packages/delivery/src/smtp/message-octets.ts'
import { HostMemory, openSession } from '../../packages/delivery/src/smtp/session.ts'
import { runTransaction } from '../../packages/delivery/src/smtp/transaction.ts'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { makeMessage } from '../harness/messages.ts'
import { alternate, ratioOf } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'

const CONNECTIONS = 10

/** Our SMTP client against nodemailer's pooled transport: the same message as it is, no signing, no database. */
export const client: Case = {
  name: 'client',
  async run({ rounds, quick, report }: Context) {
    const title = "delivery client against nodemailer's pool, 10 connections"
    report(title)
    const sink = await startSmtpSink()
    const from = 'desk@sender.example'
    const to = 'someone@harbor.example'
    const messages = quick ? 4000 : 10_000
    const raw = Buffer.from(makeMessage(from, 10_000))
    const timed = async (send: () => Promise<void>): Promise<number> => {
      const before = sink.count()
      const began = performance.now()
      await send()
      const took = (performance.now() - began) / 1000
      await new Promise((resolve) => setTimeout(resolve, 100))
      expectCount('messages at the sink', sink.count() - before, messages)
      return messages / took
    }
    const ours = async (): Promise<void> => {
      let left = messages
      const memory = new HostMemory()
      const host = { host: 'sink.test', address: '127.0.0.1', port: sink.port, implicitTls: false, verify: false }
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          const session = await openSession(host, { heloName: 'bench.test', memory, steps: [] })
          while (left-- > 0) {
            const message = new MessageOctets(raw, { isOwn: false })
            const letter = {
              from,
              to,
              head: '',
              size: raw.length,
              message,
              utf8: false,
              beforeEndOfData: async () => true,
            }
            const end = await runTransaction(session, letter)
            if (end.kind !== 'reply' || end.reply.code !== 250) throw new Error(`not taken: ${JSON.stringify(end)}`)
          }
          session.destroy()
        }),
      )
    }
    const theirs = async (): Promise<void> => {
      const settings = { host: '127.0.0.1', port: sink.port, ignoreTLS: true, pool: true } as const
      const pool = createTransport({ ...settings, maxConnections: CONNECTIONS, maxMessages: Number.POSITIVE_INFINITY })
      let left = messages
      await Promise.all(
        Array.from({ length: CONNECTIONS * 2 }, async () => {
          while (left-- > 0) await pool.sendMail({ envelope: { from, to }, raw })
        }),
      )
      pool.close()
    }
    try {
      await timed(ours)
      await timed(theirs)
      const found = await alternate({ postrider: () => timed(ours), nodemailer: () => timed(theirs) }, rounds, report)
      const ratio = ratioOf(found)
      const target = { sense: 'at least', value: 2.5 } as const
      return [{ title, unit: 'messages/s', rounds: found, target, ...(ratio && { ratio }) }]
    } finally {
      await sink.stop()
    }
  },
}
