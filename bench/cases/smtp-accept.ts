import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { messagesFor, type SmtpLoad, smtpSource, WARM_UP } from '../harness/load.ts'
import { startPostfix } from '../harness/postfix.ts'
import { ProcessorTime } from '../harness/processor.ts'
import { alternate, type Finding, ratioOf, type Target } from '../harness/rounds.ts'

interface Setting extends Omit<SmtpLoad, 'port' | 'from'> {
  readonly key?: string
  readonly target?: Target
  readonly long?: boolean
}

const SETTINGS: readonly Setting[] = [
  {
    sessions: 50,
    octets: 10_000,
    kept: true,
    key: 'smtp_accept_vs_postfix',
    target: { sense: 'at least', value: 2.5 },
  },
  {
    sessions: 50,
    octets: 10_000,
    kept: false,
    key: 'smtp_accept_conn_vs_postfix',
    target: { sense: 'at least', value: 1.5 },
  },
  {
    sessions: 10,
    octets: 100_000,
    kept: true,
    key: 'smtp_accept_100k_vs_postfix',
    target: { sense: 'at least', value: 1 },
  },
  { sessions: 10, octets: 10_000, kept: true, long: true },
  { sessions: 1, octets: 10_000, kept: true, long: true },
  { sessions: 50, octets: 100_000, kept: true, long: true },
]

/** Durable accept over SMTP and nothing else: our relay without a worker, Postfix with everything on hold. */
export const smtpAccept: Case = {
  name: 'smtp-accept',
  async run(context) {
    const { service, quick } = context
    const postfix = await startPostfix({})
    await service.start('relay')
    try {
      const findings: Finding[] = []
      const { sessions, octets, kept } = SETTINGS[0] as Setting
      await smtpSource({ sessions, octets, kept, from: `desk@${service.domain}`, port: service.relayPort }, WARM_UP)
      await service.empty()
      for (const setting of SETTINGS) {
        if (!quick || !setting.long) findings.push(await compare(setting, context, postfix))
      }
      return findings
    } finally {
      await postfix.stop()
      await service.stop('relay')
    }
  },
}

async function compare(
  { key, target, long, ...shape }: Setting,
  { service, rounds, seconds, report }: Context,
  postfix: Awaited<ReturnType<typeof startPostfix>>,
): Promise<Finding> {
  const from = `desk@${service.domain}`
  const ours = (messages: number) => smtpSource({ ...shape, from, port: service.relayPort }, messages)
  const theirs = (messages: number) => smtpSource({ ...shape, from, port: postfix.port }, messages)
  const title = `durable accept, ${shape.octets / 1000} kB, ${shape.sessions} sessions, ${shape.kept ? 'kept' : 'one connection per message'}`
  report(title)
  const [many, few] = [await messagesFor(seconds, ours), await messagesFor(seconds, theirs)]
  await service.empty()
  await postfix.empty()
  const processor = new ProcessorTime()
  const found = await alternate(
    {
      postrider: async () => {
        const took = await processor.during('postrider', service.roots(), many, () => ours(many))
        expectCount('messages accepted', await service.accepted(), many)
        await service.empty()
        return many / took
      },
      postfix: async () => {
        const took = await processor.during('postfix', postfix.roots, few, () => theirs(few))
        expectCount('messages held by Postfix', await postfix.held(), few)
        await postfix.empty()
        return few / took
      },
    },
    rounds,
    report,
  )
  const ratio = ratioOf(found)
  return {
    title,
    unit: 'messages/s',
    rounds: found,
    processor: processor.rounds,
    ...(ratio && { ratio }),
    ...(key && { key }),
    ...(target && { target }),
  }
}
