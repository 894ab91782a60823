import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { simpleParser } from 'mailparser'
import { readTrackingToken, type TrackingTarget } from '../../packages/core/src/composition/links/token.ts'
import { createSecrets } from '../../packages/core/src/platform/security/secrets.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender, TestService } from '../helpers/service.ts'
import type { Sink, SinkMessage } from '../helpers/sink.ts'
import type { Outbox } from './outbox.ts'

const KINDS = { o: 'open', c: 'click', u: 'unsubscribe', p: 'preferences' } as const
const OURS = /https?:\/\/[\w.-]+(?::\d+)?\/t\/([ocup])\/([\w-]{40,})/g
const secrets = createSecrets('a secret key that only tests may know')

/** What the service's links in a text stand for, in the order they stand there. */
export function targetsIn(text: string): TrackingTarget[] {
  return [...text.matchAll(OURS)].map(([, letter, token]) => {
    const target = readTrackingToken(secrets, token as string)
    if (!target || target.kind !== KINDS[letter as keyof typeof KINDS]) throw new Error(`not a link of ours: ${token}`)
    return target
  })
}

/** The text with the links put back that lead on from ours, and without pixel and unsubscribe paragraph. */
export function untracked(text: string, write: (url: string) => string = (url) => url): string {
  return text
    .replace(/<img src="[^"]+\/t\/o\/[^>]+>/g, '')
    .replace(/<p [^>]+><a href="[^"]+\/t\/u\/[^"]+">Unsubscribe<\/a><\/p>/g, '')
    .replace(OURS, (link) => write(targetsIn(link)[0]?.url ?? ''))
}

export interface Tracked {
  /** By the v2 API; answers the id. */
  send(sender: Sender, extra?: Record<string, unknown>): Promise<string>
  /** The copy of each recipient, once all have theirs. */
  copies(id: string, count?: number): Promise<SinkMessage[]>
  copy(id: string): Promise<SinkMessage>
  html(id: string): Promise<string>
  /** What another's verifier says of each signature. */
  verdict(sender: Sender, message: Buffer): Promise<string>
}

export function trackedOf({ service, inState }: Outbox, sink: Sink): Tracked {
  const copies = async (id: string, count = 1): Promise<SinkMessage[]> => {
    for (let number = 0; number < count; number++) await inState(id, 'delivered', number)
    return sink.messages
      .filter(({ data }) => data.includes(id))
      .sort((a, b) => String(a.to).localeCompare(String(b.to)))
  }
  const copy = async (id: string): Promise<SinkMessage> => {
    const [only] = await copies(id)
    if (!only) throw new Error(`message ${id} did not arrive`)
    return only
  }
  return {
    async send(sender, extra = {}) {
      const { body } = await sendV2(`http://127.0.0.1:${service.config.apiPort}`, sender.apiKey, v2Body(sender, extra))
      if (!body.data) throw new Error(`not accepted: ${JSON.stringify(body)}`)
      return body.data.message_id
    },
    copies,
    copy,
    html: async (id) => String((await simpleParser((await copy(id)).data)).html).replace(/\n$/, ''),
    verdict: (sender, message) => verdictOf(sender, service, message),
  }
}

/** The verdict of another's verifier on each signature of a message. */
export async function verdictOf(
  { domain }: Pick<Sender, 'domain'>,
  { core }: Pick<TestService, 'core'>,
  message: Buffer,
): Promise<string> {
  const { dns } = await core.domains.show(domain)
  const { results } = await dkimVerify(message, {
    resolver: async (name, type) => {
      const record = dns.find(({ host }) => host === name)
      if (type !== 'TXT' || !record) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
      return [[record.value]]
    },
  })
  return results.map(({ signingDomain, status }) => `${status.result} ${signingDomain}`).join()
}

/** Of a raw message, with the line end of its last field. */
export function headerOf(message: Buffer): string {
  return message.toString('latin1', 0, message.indexOf('\r\n\r\n') + 2)
}
