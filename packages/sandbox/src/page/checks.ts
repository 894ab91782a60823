import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import type { Tone } from '@postrider/ui'
import { partsOf } from '../html-parts.ts'
import type { Shown } from '../show-message.ts'
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
  readonly dnsServers: readonly string[]
}

/** Checks a message as a receiver does. Never throws. */
export async function checkMessage(shown: Shown, order: Order): Promise<readonly Check[]> {
  return [...(await authentication(shown, order)), unsubscribe(shown), ...content(shown)]
}

async function authentication({ message, parsed }: Shown, { file, dnsServers }: Order): Promise<readonly Check[]> {
  const count = message.headers.filter(({ name }) => name.toLowerCase() === 'dkim-signature').length
  const spf: Check = {
    name: 'SPF',
    tone: 'idle',
    result: 'not evaluated',
    text: 'The message came from this machine. In production, receivers compare the sending address with the SPF record of the return path’s domain.',
  }
  const none = (name: string, tone: Tone, result: string, text: string): readonly Check[] => [
    { name, tone, result, text },
    spf,
  ]
  if (count === 0)
    return none('DKIM', 'bad', 'not signed', 'Receivers such as Gmail and Yahoo reject or junk unsigned bulk mail.')
  if (count > MAX_SIGNATURES)
    return none(
      'DKIM',
      'wait',
      'not verified',
      `The message has ${count} signatures; at most ${MAX_SIGNATURES} are verified.`,
    )
  try {
    const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
    const { results } = await dkimVerify(readFileSync(file), { resolver: resolverOf(dnsServers) })
    const from = parsed?.from?.value[0]?.address?.split('@')[1] ?? ''
    const aligned = results.some(({ status }) => status.aligned)
    const dmarc: Check = aligned
      ? { name: 'DMARC', tone: 'good', result: 'aligned', text: `A signature is by the domain in From, ${from}.` }
      : { name: 'DMARC', tone: 'bad', result: 'not aligned', text: `No signature is by the domain in From, ${from}.` }
    return [...results.map((one) => dkim(one, dnsServers.length > 0)), spf, dmarc]
  } catch {
    return none('DKIM', 'wait', 'not verified', 'The signature could not be parsed.')
  }
}

interface Signature {
  readonly status: { readonly result: string; readonly comment?: string | false | undefined }
  readonly signingDomain?: string
  readonly selector?: string
  readonly bodyHash?: string
  readonly bodyHashExpecting?: string
}

function dkim({ status, signingDomain = '', selector = '', ...hashes }: Signature, isLookedUp: boolean): Check {
  const name = 'DKIM'
  const by = `Signed by ${signingDomain}, selector ${selector}.`
  if (status.result === 'pass')
    return { name, tone: 'good', result: 'valid', text: `${by} Header and body are unchanged.` }
  if (hashes.bodyHash !== undefined && hashes.bodyHash !== hashes.bodyHashExpecting)
    return { name, tone: 'bad', result: 'invalid', text: `${by} The body was changed after it was signed.` }
  if (!isLookedUp)
    return {
      name,
      tone: 'info',
      result: 'signed',
      text: `${by} The body is unchanged. The key was not looked up: set DNS_SERVERS to verify the signature of the header.`,
    }
  return { name, tone: 'bad', result: 'invalid', text: `${by} ${status.comment || 'The signature is not valid.'}` }
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

function unsubscribe({ message }: Shown): Check {
  const name = 'Unsubscribe'
  const has = (field: string) => message.headers.some(({ name }) => name.toLowerCase() === field)
  if (!has('list-unsubscribe'))
    return {
      name,
      tone: 'idle',
      result: 'no header',
      text: 'Bulk mail needs List-Unsubscribe. Receipts and password mails do not.',
    }
  return has('list-unsubscribe-post')
    ? { name, tone: 'good', result: 'one click', text: 'List-Unsubscribe with one click (RFC 8058).' }
    : {
        name,
        tone: 'wait',
        result: 'not one click',
        text: 'Gmail and Yahoo require List-Unsubscribe-Post for bulk mail (RFC 8058).',
      }
}

function content({ message }: Shown): readonly Check[] {
  const { html, text } = message
  if (html === null) return [{ name: 'Parts', tone: 'idle', result: 'text only', text: 'The message has no HTML.' }]
  const { links, remoteImages } = partsOf(html)
  const plain = links.filter((link) => link.toLowerCase().startsWith('http:')).length
  return [
    text
      ? { name: 'Parts', tone: 'good', result: 'HTML and text', text: 'Every mail program can show the message.' }
      : {
          name: 'Parts',
          tone: 'wait',
          result: 'HTML only',
          text: 'Add a text version for mail programs and people that prefer it.',
        },
    plain === 0
      ? { name: 'Links', tone: 'good', result: `${links.length}`, text: 'All links are encrypted or have no host.' }
      : {
          name: 'Links',
          tone: 'wait',
          result: `${plain} by http`,
          text: 'Some mail programs warn about links that are not encrypted.',
        },
    {
      name: 'Images',
      tone: 'idle',
      result: `${remoteImages} remote`,
      text: 'Many mail programs load them only on click.',
    },
    isClipped(html)
      ? {
          name: 'Size',
          tone: 'bad',
          result: 'clipped by Gmail',
          text: 'The HTML is larger than 102 kB: Gmail hides the rest, with the unsubscribe link in the footer.',
        }
      : {
          name: 'Size',
          tone: 'good',
          result: 'not clipped',
          text: 'The HTML is smaller than 102 kB, at which Gmail clips messages.',
        },
  ]
}
