// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Domain {
  readonly domain: string
  readonly envelopeName: string | null
  /** pending, active, inactive or rejected */
  readonly status: string
  /** whether subaccounts can send from it */
  readonly shared: boolean
  /** whether its mail also gets an Ed25519 signature, after the record of that key was found */
  readonly ed25519: boolean
  readonly addedTime: string
  /** time of the last DNS check */
  readonly checkedTime: string | null
  /** time since which the required records of a verified domain are incorrect */
  readonly brokenSince: string | null
  /** time at which a pending domain is removed unless its required records are correct */
  readonly claimEnds: string | null
  readonly dns: readonly Dns[]
}

export interface Dns {
  /** TXT or CNAME */
  readonly type: string
  readonly host: string
  readonly value: string
  /** of a TXT value that is too long for one string: its strings of at most 255 characters */
  readonly strings?: readonly string[] | undefined
  /** true if the value names a host of the service that is not final, such as one without a dot */
  readonly provisional?: boolean | undefined
  /** dkim, spf, returnPath, envelope or dmarc */
  readonly purpose: string
  readonly verified: boolean
  /** unchecked, right, wrong or missing */
  readonly state: string
  /** whether the domain needs it to become active */
  readonly required: boolean
  /** values found instead */
  readonly found?: readonly string[] | undefined
  readonly problem?: string | undefined
  /** the mistake, if it is a frequent one: cut, quoted, doubled (the domain was appended twice) or elsewhere */
  readonly fault?: string | undefined
  /** state of a DKIM key: active, next (signs after its record was found) or retiring */
  readonly key?: string | undefined
  /** of a DKIM key: rsa or ed25519 */
  readonly algorithm?: string | undefined
}

export interface DomainShown {
  readonly domain: string
  readonly envelopeName: string | null
  /** pending, active, inactive or rejected */
  readonly status: string
  /** whether subaccounts can send from it */
  readonly shared: boolean
  /** whether its mail also gets an Ed25519 signature, after the record of that key was found */
  readonly ed25519: boolean
  readonly addedTime: string
  /** time of the last DNS check */
  readonly checkedTime: string | null
  /** time since which the required records of a verified domain are incorrect */
  readonly brokenSince: string | null
  /** time at which a pending domain is removed unless its required records are correct */
  readonly claimEnds: string | null
  readonly dns: readonly Dns[]
  /** demands of large receivers; in a list only with the parameter domain */
  readonly receivers?: readonly Receivers[] | undefined
}

export interface Receivers {
  /** google, yahoo or microsoft */
  readonly receiver: string
  readonly label: string
  /** messages per day from which a sender counts as large; null: not published */
  readonly bulkFrom: number | null
  readonly sources: readonly {
    /** page of the receiver */
    readonly address: string
    /** day on which the demands were compared with it */
    readonly read: string
  }[]
  readonly requirements: readonly Requirements[]
}

export interface Requirements {
  /** dkim, spf, dmarc, alignment, oneClick, complaints, from, ptr, tls or format */
  readonly name: string
  /** all, or bulk: demanded of large senders only */
  readonly senders: string
  /** right (fulfilled), missing, unchecked (not known) or unneeded */
  readonly state: string
  /** why it is missing or not known, or soon may be missing */
  readonly problem?: string | undefined
  /** the next step to fulfil it */
  readonly remedy?: string | undefined
}

export interface AddDomainInput {
  /** domain of the from address */
  readonly domain: string
  /** labels below the domain: the host name of open, click and unsubscribe links */
  readonly envelopeName?: string | undefined
  /** whether to create an Ed25519 key, too */
  readonly ed25519?: boolean | undefined
}

export type AddDomainData = Domain

export interface ListDomainsInput {
  /** 1: active, 0: not active; or pending, active, inactive, rejected */
  readonly status?: string | number | undefined
  /** only the domain of this name */
  readonly domain?: string | undefined
  /** at most 1000 (default) */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export type ListDomainsData = readonly DomainShown[]

export interface VerifyDomainInput {
  /** domain of the from address */
  readonly domain: string
}

export type VerifyDomainData = DomainShown

export interface DeleteDomainInput {
  /** domain of the from address */
  readonly domain: string
}

export type DeleteDomainData = Readonly<Record<string, unknown>>

export interface RotateDkimInput {
  /** domain of the from address */
  readonly domain: string
}

export type RotateDkimData = Domain

export interface SetDkimKeyInput {
  /** domain of the from address */
  readonly domain: string
  readonly selector: string
  /** RSA with 1024 to 4096 bits, or Ed25519; unencrypted PEM */
  readonly privateKey: string
}

export type SetDkimKeyData = {
  readonly domain: string
  readonly envelopeName: string | null
  /** pending, active, inactive or rejected */
  readonly status: string
  /** whether subaccounts can send from it */
  readonly shared: boolean
  /** whether its mail also gets an Ed25519 signature, after the record of that key was found */
  readonly ed25519: boolean
  readonly addedTime: string
  /** time of the last DNS check */
  readonly checkedTime: string | null
  /** time since which the required records of a verified domain are incorrect */
  readonly brokenSince: string | null
  /** time at which a pending domain is removed unless its required records are correct */
  readonly claimEnds: string | null
  readonly dns: readonly Dns[]
  readonly warnings: readonly string[]
}

export interface SetEd25519Input {
  /** domain of the from address */
  readonly domain: string
  readonly ed25519: boolean
}

export type SetEd25519Data = Domain

export interface ShareDomainInput {
  /** domain of the from address */
  readonly domain: string
  readonly shared: boolean
}

export type ShareDomainData = Domain

export interface ShowDmarcInput {
  /** domain of the from address */
  readonly domain: string
  /** days of reports, 1 to 90; default 14 */
  readonly days?: number | string | null | undefined
}

export type ShowDmarcData = {
  readonly domain: string
  readonly days: number
  /** reports with a valid DKIM signature of their sender; only these are counted */
  readonly reports: number
  /** other reports */
  readonly unauthenticatedReports: number
  /** tags of the DMARC record in the latest report; null without reports */
  readonly policy: Readonly<Record<string, string>> | null
  /** messages that this service has sent; aligned: DKIM or SPF is valid for the domain in From */
  readonly ours: {
    readonly messages: number
    readonly aligned: number
  }
  /** messages of others */
  readonly others: {
    readonly messages: number
    readonly aligned: number
  }
  /** the largest first, at most 100 */
  readonly reporters: readonly {
    /** domain whose DKIM signature its reports have */
    readonly reporter: string
    /** how it calls itself */
    readonly organization: string
    readonly reports: number
    readonly messages: number
    /** messages that this service has sent */
    readonly ours: {
      readonly messages: number
      readonly aligned: number
    }
  }[]
  /** addresses of others, the largest first, at most 100 */
  readonly otherSources: readonly {
    /** null: the small remainder of large reports */
    readonly address: string | null
    readonly messages: number
    readonly aligned: number
    /** a domain in From of these messages */
    readonly headerFrom: string | null
  }[]
  readonly advice: {
    /** whether the policy can be quarantine */
    readonly ready: boolean
    /** the same as a sentence, with the reason */
    readonly text: string
  }
}

export class Domains {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Add a sending domain. Returns the DNS records to publish. Needs the scope domains. */
  add(input: AddDomainInput, options?: CallOptions): Promise<AddDomainData> {
    return this.#call({ method: 'POST', path: '/domain' }, input, options)
  }

  /** List the sending domains by name, with the state of each domain and its records. Needs the scope domains. */
  list(input: ListDomainsInput = {}, options?: CallOptions): Promise<ListDomainsData> {
    return this.#call({ method: 'GET', path: '/domain/getDomains' }, input, options)
  }

  /** Check the DNS records of a domain now. The domain becomes active if its required records are correct. Needs the scope domains. */
  verify(input: VerifyDomainInput, options?: CallOptions): Promise<VerifyDomainData> {
    return this.#call({ method: 'POST', path: '/domain/verify' }, input, options)
  }

  /** Delete a domain. Accepted messages are still signed and delivered. Needs the scope domains. */
  delete(input: DeleteDomainInput, options?: CallOptions): Promise<DeleteDomainData> {
    return this.#call({ method: 'DELETE', path: '/domain/delete' }, input, options)
  }

  /** Create the next DKIM key of each algorithm. It signs after its record was found in the DNS. Needs the scope domains. */
  rotateDkim(input: RotateDkimInput, options?: CallOptions): Promise<RotateDkimData> {
    return this.#call({ method: 'POST', path: '/domain/rotateDkim' }, input, options)
  }

  /** Upload a DKIM key of your own. It signs after its record was found in the DNS. Needs the scope domains. */
  setDkimKey(input: SetDkimKeyInput, options?: CallOptions): Promise<SetDkimKeyData> {
    return this.#call({ method: 'POST', path: '/domain/dkimKey' }, input, options)
  }

  /** Sign mail of a domain with an Ed25519 key, too, or no longer. Needs the scope domains. */
  setEd25519(input: SetEd25519Input, options?: CallOptions): Promise<SetEd25519Data> {
    return this.#call({ method: 'POST', path: '/domain/ed25519' }, input, options)
  }

  /** Share a domain with subaccounts, or stop sharing it. Needs the scope domains. */
  share(input: ShareDomainInput, options?: CallOptions): Promise<ShareDomainData> {
    return this.#call({ method: 'POST', path: '/domain/share' }, input, options)
  }

  /** Show what receivers reported about mail with a domain (DMARC), and whether its policy can be quarantine. Needs the scope domains. */
  showDmarc(input: ShowDmarcInput, options?: CallOptions): Promise<ShowDmarcData> {
    return this.#call({ method: 'GET', path: '/domain/dmarc' }, input, options)
  }
}
