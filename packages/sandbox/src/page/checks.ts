import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { createFormat, type Language, type Tone } from '@postrider/ui'
import { partsOf } from '../reading/html-parts.ts'
import type { JudgedLink } from '../reading/judged-link.ts'
import type { Shown } from '../reading/show-message.ts'
import { checkWords } from './check-words.ts'
import { isClipped } from './clipping.ts'

/** One result: what was checked, and an explanation. */
export interface Check {
  readonly name: string
  readonly tone: Tone
  readonly result: string
  readonly text: string
}

/** Each signature may have the whole body hashed in another way. */
const MAX_SIGNATURES = 5
/** Milliseconds for each DNS query. */
const DNS_MS = 1500

interface Order {
  readonly file: string
  readonly language: Language
  readonly dnsServers: readonly string[]
  readonly links: readonly JudgedLink[]
}

/** Checks a message as a receiver does. Never throws. */
export async function checkMessage(shown: Shown, order: Order): Promise<readonly Check[]> {
  const { language, links } = order
  return [...(await authentication(shown, order)), unsubscribe(shown, language), ...content(shown, links, language)]
}

async function authentication(
  { message, parsed }: Shown,
  { file, dnsServers, language }: Order,
): Promise<readonly Check[]> {
  const words = checkWords(language)
  const count = message.headers.filter(({ name }) => name.toLowerCase() === 'dkim-signature').length
  const spf: Check = {
    name: 'SPF',
    tone: 'idle',
    result: words.notEvaluated,
    text: words.spf,
  }
  const none = (name: string, tone: Tone, result: string, text: string): readonly Check[] => [
    { name, tone, result, text },
    spf,
  ]
  if (count === 0) return none('DKIM', 'bad', words.notSigned, words.notSignedText)
  if (count > MAX_SIGNATURES)
    return none('DKIM', 'wait', words.notVerified, words.tooManySignatures(count, MAX_SIGNATURES))
  try {
    const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
    const { results } = await dkimVerify(readFileSync(file), { resolver: resolverOf(dnsServers) })
    const from = parsed?.from?.value[0]?.address?.split('@')[1] ?? ''
    const aligned = results.some(({ status }) => status.aligned)
    const dmarc: Check = aligned
      ? { name: 'DMARC', tone: 'good', result: words.aligned, text: words.alignedText(from) }
      : { name: 'DMARC', tone: 'bad', result: words.notAligned, text: words.notAlignedText(from) }
    return [...results.map((one) => dkim(one, dnsServers.length > 0, language)), spf, dmarc]
  } catch {
    return none('DKIM', 'wait', words.notVerified, words.unreadableSignature)
  }
}

interface Signature {
  readonly status: { readonly result: string; readonly comment?: string | false | undefined }
  readonly signingDomain?: string
  readonly selector?: string
  readonly bodyHash?: string
  readonly bodyHashExpecting?: string
}

function dkim(
  { status, signingDomain = '', selector = '', ...hashes }: Signature,
  isLookedUp: boolean,
  language: Language,
): Check {
  const words = checkWords(language)
  const name = 'DKIM'
  const by = words.signedBy(signingDomain, selector)
  if (status.result === 'pass') return { name, tone: 'good', result: words.valid, text: `${by} ${words.unchanged}` }
  if (hashes.bodyHash !== undefined && hashes.bodyHash !== hashes.bodyHashExpecting)
    return { name, tone: 'bad', result: words.invalid, text: `${by} ${words.bodyChanged}` }
  if (!isLookedUp)
    return {
      name,
      tone: 'info',
      result: words.signed,
      text: `${by} ${words.keyNotLookedUp}`,
    }
  const reason = status.comment ? words.invalidBecause(status.comment) : words.invalidText
  return { name, tone: 'bad', result: words.invalid, text: `${by} ${reason}` }
}

/** Without servers nothing is looked up: in the sandbox nothing leaves the machine. */
function resolverOf(servers: readonly string[]) {
  const resolver = new Resolver({ timeout: DNS_MS, tries: 1 })
  if (servers.length > 0) resolver.setServers(servers)
  return async (host: string, type: string): Promise<string[][]> => {
    if (servers.length === 0 || type !== 'TXT') throw Object.assign(new Error('ENODATA'), { code: 'ENODATA' })
    return resolver.resolveTxt(host)
  }
}

function unsubscribe({ message }: Shown, language: Language): Check {
  const words = checkWords(language)
  const name = words.names.unsubscribe
  const has = (field: string) => message.headers.some(({ name }) => name.toLowerCase() === field)
  if (!has('list-unsubscribe'))
    return {
      name,
      tone: 'idle',
      result: words.noHeader,
      text: words.noHeaderText,
    }
  return has('list-unsubscribe-post')
    ? { name, tone: 'good', result: words.oneClick, text: words.oneClickText }
    : {
        name,
        tone: 'wait',
        result: words.notOneClick,
        text: words.notOneClickText,
      }
}

function content({ message }: Shown, links: readonly JudgedLink[], language: Language): readonly Check[] {
  const words = checkWords(language)
  const { names } = words
  const format = createFormat(language, 'UTC', new Date(0))
  const { html, text } = message
  if (html === null) return [{ name: names.parts, tone: 'idle', result: words.textOnly, text: words.textOnlyText }]
  const { remoteImages } = partsOf(html)
  const plain = links.filter(({ target }) => target.toLowerCase().startsWith('http:')).length
  return [
    text
      ? { name: names.parts, tone: 'good', result: words.both, text: words.bothText }
      : {
          name: names.parts,
          tone: 'wait',
          result: words.htmlOnly,
          text: words.htmlOnlyText,
        },
    plain === 0
      ? { name: names.links, tone: 'good', result: format.number(links.length), text: words.linksText }
      : {
          name: names.links,
          tone: 'wait',
          result: words.plainLinks(format.number(plain)),
          text: words.plainLinksText,
        },
    {
      name: names.images,
      tone: 'idle',
      result: words.remoteImages(format.number(remoteImages)),
      text: words.remoteImagesText,
    },
    isClipped(html)
      ? {
          name: names.size,
          tone: 'bad',
          result: words.clipped,
          text: words.clippedText,
        }
      : {
          name: names.size,
          tone: 'good',
          result: words.notClipped,
          text: words.notClippedText,
        },
  ]
}
