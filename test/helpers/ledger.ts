import type { Config, Sql } from '@postrider/core'
import nodemailer from 'nodemailer'
import { moveClock } from './database.ts'
import type { Sender } from './service.ts'
import type { Sink } from './sink.ts'
import { until } from './until.ts'

/** The code of outcomeUnknown: what became of the message is not said. */
const UNKNOWN = 504

type Transport = ReturnType<typeof pooled>

function pooled(options: Parameters<typeof nodemailer.createTransport>[0]) {
  return nodemailer.createTransport(options)
}

/** How a try to send ended. */
export interface Answer {
  readonly door: 'http' | 'smtp'
  /** Status or reply code; 0: none came. */
  readonly code: number
  readonly milliseconds: number
  /** performance.now() */
  readonly at: number
}

/** What a ledger has to know of the service it watches: its doors, and at the end its database. */
export interface Watched {
  readonly config: Pick<Config, 'apiPort' | 'relayPort'>
  readonly sql: Sql
}

/**
 * What was sent, what was acknowledged, what arrived: the check of every journey with faults. Each message has a recipient of
 * its own, so the sink tells which one it saw, and how often.
 */
export class Ledger {
  readonly sent = new Set<string>()
  readonly acknowledged = new Set<string>()
  /** Answered with an error that says that nothing was done. */
  readonly refused = new Set<string>()
  readonly answers: Answer[] = []
  readonly #service: Watched
  readonly #sender: Pick<Sender, 'apiKey' | 'domain'>
  #next = 0

  constructor(service: Watched, sender: Pick<Sender, 'apiKey' | 'domain'>) {
    this.#service = service
    this.#sender = sender
  }

  /** Sends messages by HTTP and SMTP on `lanes` lanes until stopped; a refused or broken try is not repeated. */
  load(lanes: number): { stop(): Promise<void> } {
    let stopped = false
    const lane = async (number: number): Promise<void> => {
      const bySmtp = number % 2 === 1 ? this.#transport() : undefined
      while (!stopped) {
        await (bySmtp ? this.#bySmtp(bySmtp) : this.#byHttp())
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      bySmtp?.close()
    }
    const running = Promise.all(Array.from({ length: lanes }, (_none, number) => lane(number)))
    return {
      async stop() {
        stopped = true
        await running
      },
    }
  }

  async #byHttp(): Promise<void> {
    const recipient = this.#recipient('http')
    const answered = this.#ask('http', recipient)
    try {
      const response = await (this.#next % 2 === 0 ? this.#byV2(recipient) : this.#byV3(recipient))
      if (response.ok) this.acknowledged.add(recipient)
      answered(response.status)
    } catch {
      answered(0)
      // Not acknowledged: the process was killed under us.
    }
  }

  #post(path: string, headers: Record<string, string>, body: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#service.config.apiPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
  }

  #byV2(recipient: string): Promise<Response> {
    const { apiKey, domain } = this.#sender
    const body = { personalizations: [{ recipient }], subject: recipient, content: 'x'.repeat(2000) }
    return this.#post('/v2/sendEmail', { api_key: apiKey }, { ...body, from: { fromEmail: `desk@${domain}` } })
  }

  #byV3(recipient: string): Promise<Response> {
    const { apiKey, domain } = this.#sender
    const personalizations = [{ to: [{ email: recipient }], subject: recipient }]
    const content = [{ type: 'text/html', value: 'x'.repeat(2000) }]
    const body = { personalizations, content, from: { email: `desk@${domain}` } }
    return this.#post('/v3/mail/send', { authorization: `Bearer ${apiKey}` }, body)
  }

  #transport(): Transport {
    return nodemailer.createTransport({
      pool: true,
      maxConnections: 1,
      host: '127.0.0.1',
      port: this.#service.config.relayPort,
      auth: { user: 'apikey', pass: this.#sender.apiKey },
      tls: { rejectUnauthorized: false },
      connectionTimeout: 5000,
      socketTimeout: 30_000,
    })
  }

  async #bySmtp(transport: Transport): Promise<void> {
    const recipient = this.#recipient('smtp')
    const answered = this.#ask('smtp', recipient)
    try {
      const info = await transport.sendMail({
        from: `desk@${this.#sender.domain}`,
        to: recipient,
        subject: recipient,
        text: 'x'.repeat(5000),
      })
      if (info.accepted.length === 1) this.acknowledged.add(recipient)
      answered(250)
    } catch (error) {
      // Not acknowledged.
      const { responseCode = 0, response = '' } = error as { responseCode?: number; response?: string }
      answered(response.includes('Outcome unknown') ? UNKNOWN : responseCode)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  #ask(door: Answer['door'], recipient: string): (code: number) => void {
    const began = performance.now()
    return (code) => {
      const at = performance.now()
      if (code >= 400 && code !== UNKNOWN) this.refused.add(recipient)
      this.answers.push({ door, code, milliseconds: at - began, at })
    }
  }

  #recipient(door: string): string {
    const recipient = `${door}-${this.#next++}@harbor.example`
    this.sent.add(recipient)
    return recipient
  }

  /** Waits until each delivery has ended. What a worker held when it was given up is due in five minutes. */
  async drain(within: number): Promise<void> {
    const { sql } = this.#service
    const isNone = async (rows: PromiseLike<readonly unknown[]>) => (await rows).length === 0
    const inHand = () => isNone(sql`select 1 from delivery_queue where state = 'sending' limit 1`)
    await until('no delivery in hand', inHand, within)
    await moveClock(sql, '10 minutes')
    await until('an empty queue', () => isNone(sql`select 1 from delivery_queue limit 1`), 60_000)
  }

  /** The four classes of Jepsen's queue checker. */
  async evaluate(sink: Sink): Promise<Judgement> {
    const copies = new Map<string, number>()
    for (const { to } of sink.messages) for (const address of to) copies.set(address, (copies.get(address) ?? 0) + 1)
    const rows = await this.#service.sql<{ recipient: string; state: string; marks: number }[]>`
      select d.recipient, d.state,
             (select count(*)::int from attempts a
               where a.message_id = d.message_id and a.recipient_no = d.recipient_no and a.indeterminate) as marks
        from deliveries d`
    const stored = new Map(rows.map((row) => [row.recipient, row]))
    const duplicated = [...copies].filter(([, count]) => count > 1)
    return {
      sent: this.sent.size,
      acknowledged: this.acknowledged.size,
      delivered: copies.size,
      // Acknowledged, yet neither seen nor finally accounted for.
      lost: [...this.acknowledged].filter(
        (recipient) => !copies.has(recipient) && !isFinal(stored.get(recipient)?.state),
      ),
      unexpected: [...copies.keys()].filter((recipient) => !this.sent.has(recipient)),
      recovered: [...copies.keys()].filter((recipient) => !this.acknowledged.has(recipient)),
      contradicted: [...this.refused].filter((recipient) => copies.has(recipient) || stored.has(recipient)),
      duplicated: duplicated.map(([recipient, count]) => ({ recipient, extra: count - 1 })),
      // More copies than attempts that are marked to have possibly been delivered.
      unmarked: duplicated
        .filter(([recipient, count]) => count - 1 > (stored.get(recipient)?.marks ?? 0))
        .map(([recipient]) => recipient),
      unfinished: rows.filter(({ state }) => !isFinal(state)).map(({ recipient }) => recipient),
    }
  }
}

export interface Judgement {
  readonly sent: number
  readonly acknowledged: number
  readonly delivered: number
  readonly lost: readonly string[]
  readonly unexpected: readonly string[]
  readonly recovered: readonly string[]
  /** Refused, and stored or delivered all the same. */
  readonly contradicted: readonly string[]
  readonly duplicated: readonly { recipient: string; extra: number }[]
  readonly unmarked: readonly string[]
  readonly unfinished: readonly string[]
}

function isFinal(state: string | undefined): boolean {
  return state !== undefined && ['delivered', 'bounced', 'dropped', 'expired'].includes(state)
}

/** The figures of a judgement in one line, for the test's output. */
export function figures({
  sent,
  acknowledged,
  delivered,
  lost,
  recovered,
  contradicted,
  duplicated,
}: Judgement): string {
  const extra = duplicated.reduce((sum, one) => sum + one.extra, 0)
  const whole = `${sent} sent, ${acknowledged} acknowledged, ${delivered} delivered, ${lost.length} lost, ${recovered.length} recovered`
  return `${whole}, ${contradicted.length} of them refused, ${extra} extra copies`
}
