import { readFile } from 'node:fs/promises'
import type { SandboxRelay } from '@postrider/core'
import { createTransport, type Transporter } from 'nodemailer'
import type { InboxEntry } from '../inbox-entry.ts'
import { NotSent } from './link-requests.ts'

/** Recipients of one release, and of all within an hour: the inbox is open to all who reach it. */
const MAX_RECIPIENTS = 10
const MAX_AN_HOUR = 100
const HOUR_MS = 3_600_000
const TIMEOUT_MS = 20_000
/** An address that needs no quoting; it becomes a part of an SMTP command. */
const ADDRESS = /^[^\s@<>",;:\\()[\]\p{Cc}]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/iu

/** Sends messages of the inbox to real addresses, through the operator's relay and to the recipients that the operator allows. */
export class Releases {
  readonly #relay: SandboxRelay | undefined
  readonly #transport: Transporter | undefined
  #hour = { since: 0, sent: 0 }

  constructor(relay: SandboxRelay | undefined) {
    this.#relay = relay
    if (!relay) return
    const { host, port, tls, user = '', password = '' } = relay
    this.#transport = createTransport({
      host,
      port,
      secure: tls,
      // A password is sent only to a server whose certificate is right; without one, what can be is encrypted, as between mail servers.
      ...(user ? { auth: { user, pass: password }, requireTLS: !tls } : {}),
      tls: { rejectUnauthorized: tls || user !== '' },
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  /** The host and port of the relay, and who can be written to; undefined if nothing is released. */
  get settings(): { readonly server: string; readonly recipients: readonly string[] } | undefined {
    return this.#relay && { server: `${this.#relay.host}:${this.#relay.port}`, recipients: this.#relay.recipients }
  }

  /** Returns the recipients. Throws {@link NotSent} if the message may not be sent to them. */
  #require(recipients: readonly string[]): readonly string[] {
    const to = [...new Set(recipients.map((one) => one.trim()).filter(Boolean))]
    const relay = this.#relay
    if (!relay) throw new NotSent(403, 'no message leaves the inbox: set SANDBOX_RELAY_URL and SANDBOX_RELAY_TO')
    if (to.length === 0 || to.length > MAX_RECIPIENTS)
      throw new NotSent(400, `To: must have 1 to ${MAX_RECIPIENTS} addresses`)
    const wrong = to.find((address) => !ADDRESS.test(address))
    if (wrong !== undefined) throw new NotSent(400, `To: "${wrong.slice(0, 100)}" is not an email address`)
    const other = to.find((address) => !isAllowed(relay, address))
    if (other !== undefined) throw new NotSent(403, `To: ${other} is not in SANDBOX_RELAY_TO`)
    return to
  }

  /**
   * Sends a copy as it is, from the address in its header: its return path belongs to the sandbox's delivery. Returns false if its file was removed from
   * outside. Throws {@link NotSent}.
   */
  async release({ head }: InboxEntry, file: string, recipients: readonly string[]): Promise<boolean> {
    const to = this.#require(recipients)
    const raw = await readFile(file).catch(() => undefined)
    if (!raw) return false
    this.#count(to.length)
    const from = head.from?.address ?? ''
    const sender = ADDRESS.test(from) ? from : ''
    try {
      await this.#transport?.sendMail({ envelope: { from: sender, to: [...to] }, raw })
    } catch (error) {
      const { responseCode, code } = error as { readonly responseCode?: number; readonly code?: string }
      throw new NotSent(502, `the relay did not accept the message (${responseCode ?? code ?? 'no answer'})`)
    }
    return true
  }

  close(): void {
    this.#transport?.close()
  }

  #count(recipients: number): void {
    const now = performance.now()
    if (this.#hour.sent === 0 || now - this.#hour.since > HOUR_MS) this.#hour = { since: now, sent: 0 }
    if (this.#hour.sent + recipients > MAX_AN_HOUR)
      throw new NotSent(503, `messages were released to ${MAX_AN_HOUR} recipients within the hour`)
    this.#hour.sent += recipients
  }
}

function isAllowed({ recipients }: SandboxRelay, address: string): boolean {
  const text = address.toLowerCase()
  return recipients.includes(text) || recipients.includes(text.slice(text.lastIndexOf('@')))
}
