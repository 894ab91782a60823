import { readFileSync } from 'node:fs'
import { certificateFile } from '@postrider/core'
import type { Test } from 'tap'
import { type Outbox, startOutboxProcess } from '../../delivery/outbox.ts'
import { verdictOf } from '../../delivery/tracked.ts'
import { type ServiceProcess, startProcess } from '../../helpers/processes.ts'
import type { Sender } from '../../helpers/service.ts'
import { type Sink, type SinkMessage, startSink } from '../../helpers/sink.ts'
import { until } from '../../helpers/until.ts'
import { type Machine, type Ran, startMachine } from './machine.ts'
import type { MailProgram } from './mail-program.ts'
import { pageFor } from './page.ts'

/** The name of each machine; no domain of an account. */
export const HOST = 'web1.corp.test'
const OPERATOR = { keyId: null, address: null }
const CERTIFICATE = '/etc/postrider.pem'
/** As a program may need until its queue runs again. */
const ARRIVAL_MS = 30_000
const FLUSH_EVERY_MS = 2000

/** A service with a relay and a worker of their own, whose mail ends in a sink that refuses addresses which begin with `gone`. */
export interface Post {
  readonly outbox: Outbox<ServiceProcess>
  readonly sink: Sink
  stopRelay(): Promise<void>
  startRelay(): Promise<void>
  /** Waits until a login has been refused, since the relay was started. */
  loginRefused(): Promise<unknown>
}

export async function openPost(t: Test): Promise<Post> {
  const sink = await startSink(t, {
    rcpt: ({ command }) => (command.includes('<gone') ? '550 5.1.1 user unknown' : undefined),
  })
  const outbox = await startOutboxProcess(t, {
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    // Its certificate has this name, too.
    HELO_NAME: 'relay.example.com',
  })
  const start = (): Promise<ServiceProcess> => startProcess(t, 'relay', outbox.service.env)
  let relay = await start()
  return {
    outbox,
    sink,
    async stopRelay() {
      await relay.stop()
    },
    async startRelay() {
      relay = await start()
    },
    loginRefused: () => until('a refused login', () => relay.log.some(({ refusal }) => refusal === 'keyInvalid')),
  }
}

/** A mail program on a machine of its own, with accounts of its own. */
export interface Station {
  readonly program: MailProgram
  readonly machine: Machine
  /** Its hosts may send, and failures are reported by mail. */
  readonly sender: Sender
  /** It has a fallback sender, `hosts@` its domain. */
  readonly hostless: Sender
  /** Runs its command `sendmail`. */
  sendmail(args: readonly string[], message: string): Promise<Ran>
  /** The same; an Error if it does not take the mail. */
  send(args: readonly string[], message: string): Promise<void>
  /** Writes its configuration with another key, or with another domain to send from. */
  configure(changed?: { readonly key?: string; readonly domain?: string }): Promise<void>
  /** The messages of these accounts that are at the sink. */
  found(fits: Fits): SinkMessage[]
  /** Waits for them, and has the queue tried meanwhile. */
  arrived(what: string, fits: Fits, count?: number): Promise<SinkMessage>
  /** What a verifier says of the message's signatures. */
  verdict(message: SinkMessage, of?: Sender): Promise<string>
}

export type Fits = (message: SinkMessage, text: string) => boolean

export async function openStation(t: Test, program: MailProgram, { outbox, sink }: Post): Promise<Station> {
  const { service } = outbox
  // Before the relay knows them: it remembers an account for a while.
  const { settings } = service.core.accounts
  const sender = await service.makeSender()
  await settings.change(sender.accountId, { hostsMaySend: true, mailReports: true }, OPERATOR)
  const hostless = await service.makeSender()
  await settings.change(hostless.accountId, { fallbackSender: `hosts@${hostless.domain}` }, OPERATOR)
  const machine = await startMachine(t, program.packages, HOST)
  machine.write(CERTIFICATE, readFileSync(certificateFile(service.config), 'utf8'))
  const configure: Station['configure'] = async ({ key = sender.apiKey, domain = sender.domain } = {}) => {
    await program.configure(machine, pageFor({ domain, key, port: service.config.relayPort }))
  }
  await program.prepare?.(machine)
  await configure()
  await program.start?.(machine)
  const sendmail: Station['sendmail'] = (args, message) =>
    machine.run(['/usr/sbin/sendmail', ...args], Buffer.from(message, 'latin1'))
  const found = (fits: Fits): SinkMessage[] =>
    sink.messages.filter((message) => {
      const text = message.data.toString('latin1')
      return [sender, hostless].some(({ domain }) => text.includes(`d=${domain};`)) && fits(message, text)
    })
  return {
    program,
    machine,
    sender,
    hostless,
    configure,
    found,
    sendmail,
    async send(args, message) {
      const { status, output } = await sendmail(args, message)
      if (status !== 0) throw new Error(`sendmail ended with ${status}: ${output}`)
    },
    async arrived(what, fits, count = 1) {
      let flushed = performance.now()
      const messages = await until(
        what,
        async () => {
          const all = found(fits)
          if (all.length >= count) return all
          if (performance.now() - flushed > FLUSH_EVERY_MS) {
            await program.flush?.(machine)
            flushed = performance.now()
          }
          return undefined
        },
        ARRIVAL_MS,
      ).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${found(fits).length} of ${count}\n${await program.log(machine)}`)
      })
      return messages[0] as SinkMessage
    },
    verdict: ({ data }, of = sender) => verdictOf(of, service, data),
  }
}
