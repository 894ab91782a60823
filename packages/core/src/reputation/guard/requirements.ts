import type { RequirementMode } from '../../accounts/account-settings.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { MAILBOX_PROVIDERS } from '../../reporting/statistics/mailbox-providers.ts'
import { type DomainFacts, type PtrFact, readDomainFacts, readPtr, readReportingProviders } from './facts.ts'
import {
  COMPLAINT_SHARES,
  demandsOf,
  MIN_DKIM_BITS,
  RECEIVERS,
  type Receiver,
  type RequirementName,
  type RequirementSource,
} from './receivers.ts'

export interface Requirement {
  readonly name: RequirementName
  /** `right`: fulfilled; `unchecked`: not known; `unneeded`: one-click unsubscription, of a domain without bulk mail. */
  readonly state: 'right' | 'missing' | 'unchecked' | 'unneeded'
  /** Why it is missing or not known, or that it soon may be. */
  readonly problem?: string
  /** The next step to fulfil it. */
  readonly remedy?: string
}

/** `senders`: whether it is demanded of all senders, or of large ones only. */
export interface ReceiverRequirement extends Requirement {
  readonly senders: 'all' | 'bulk'
}

/** The demands of a receiver, and how a domain fulfils them. */
export interface ReceiverRequirements {
  readonly receiver: string
  readonly label: string
  readonly bulkFrom: number | null
  readonly sources: readonly RequirementSource[]
  readonly requirements: readonly ReceiverRequirement[]
}

/** Whether mail to a provider is sent over TLS only; undefined if this service does not send it there itself. */
export type TlsOfProvider = (provider: string) => boolean | undefined

export interface RequirementOptions {
  readonly tlsOf: TlsOfProvider
  /** The setting of accounts that have none of their own. */
  readonly requirements: RequirementMode
}

/** Some complaints say nothing: of 1000 messages one is 0.1 %. */
const MIN_COMPLAINTS = 5

/** The requirements of one domain: those that do not depend on the receiver, and all of each receiver. */
export interface DomainRequirements {
  readonly general: readonly Requirement[]
  readonly receivers: readonly ReceiverRequirements[]
  /** Whether bulk mail of its account waits, because it lacked demands on large senders at its last check. */
  readonly isHeld: boolean
}

/** Returns the requirements of these domains, by id, as far as this service knows them. */
export async function readRequirements(
  sql: AnySql,
  ids: readonly number[],
  { tlsOf, requirements: usual }: RequirementOptions,
): Promise<Map<number, DomainRequirements>> {
  const facts = await readDomainFacts(sql, ids, usual)
  const [ptr, reporting] = [await readPtr(sql), await readReportingProviders(sql)]
  return new Map(
    facts.map((domain) => {
      const general = generalOf(domain, ptr)
      const receivers = RECEIVERS.map((receiver): ReceiverRequirements => {
        const { name, label, bulkFrom, sources, all } = receiver
        const own = [...general, tls(receiver, tlsOf), complaints(receiver, domain, reporting)]
        const requirements = demandsOf(receiver).flatMap((demand) =>
          own
            .filter((one) => one.name === demand)
            .map((one): ReceiverRequirement => ({ ...one, senders: all.includes(demand) ? 'all' : 'bulk' })),
        )
        return { receiver: name, label, bulkFrom, sources, requirements }
      })
      return [domain.id, { general, receivers, isHeld: domain.isHeld }]
    }),
  )
}

/** The demands of a receiver on large senders alone that depend on the domain's records. */
const OF_LARGE = new Set(RECEIVERS.flatMap(({ bulk }) => bulk))

/** Returns which demands on large senders a domain lacks by its name and records. */
export function lackedBy(facts: DomainFacts): RequirementName[] {
  return domainRequirements(facts).flatMap(({ name, state }) =>
    state === 'missing' && OF_LARGE.has(name) ? [name] : [],
  )
}

function generalOf(facts: DomainFacts, ptr: PtrFact): Requirement[] {
  return [...domainRequirements(facts), oneClick(facts), ptrRequirement(ptr), { name: 'format', state: 'right' }]
}

const DKIM_REMEDY = 'publish the DKIM record that is shown for the domain'

/** Those that depend on the domain's name and records alone, and so change only when it is checked. */
function domainRequirements(facts: DomainFacts): Requirement[] {
  const { spf, hasReturnPath, dmarc } = facts
  return [
    dkim(facts),
    requirement('spf', hasReturnPath ? 'right' : spf, {
      problem: 'neither the SPF record nor the own return path is right',
      remedy: 'publish the CNAME record of the return path, or the SPF record, that is shown for the domain',
    }),
    requirement('dmarc', dmarc?.state ?? 'unchecked', {
      problem: dmarc?.problem ?? 'no DMARC record applies to the domain',
      remedy: 'publish the DMARC record that is shown for the domain; v=DMARC1; p=none is enough',
    }),
    alignment(facts),
    from(facts),
  ]
}

function dkim({ dkim: state, dkimBits: bits }: DomainFacts): Requirement {
  if (state === 'right' && bits !== null && bits < MIN_DKIM_BITS) {
    return requirement('dkim', 'missing', {
      problem: `the signing key has ${bits} bits, and receivers demand at least ${MIN_DKIM_BITS}`,
      remedy: 'create the next key of the domain and publish its record',
    })
  }
  return requirement('dkim', state, { problem: 'the DKIM record of the signing key is not right', remedy: DKIM_REMEDY })
}

/** From is at the domain or a host below it, and so is the domain of the signature, and that of an own return path. One of both is enough. */
function alignment({ dkim: state, hasReturnPath }: DomainFacts): Requirement {
  if (hasReturnPath || state === 'right') return { name: 'alignment', state: 'right' }
  return requirement('alignment', state, {
    problem: 'neither a DKIM signature nor the return path is valid for the domain in From',
    remedy: DKIM_REMEDY,
  })
}

function from({ name }: DomainFacts): Requirement {
  const provider = [...MAILBOX_PROVIDERS].find(([, domains]) =>
    domains.some((domain) => name === domain || name.endsWith(`.${domain}`)),
  )
  return requirement('from', provider ? 'missing' : 'right', {
    problem: `${name} is a domain of ${provider?.[0]}, whose mail others must not send`,
    remedy: 'send from a domain of your own',
  })
}

function oneClick({ bulk, withoutOneClick }: DomainFacts): Requirement {
  if (bulk === 0) return { name: 'oneClick', state: 'unneeded' }
  return requirement('oneClick', withoutOneClick === 0 ? 'right' : 'missing', {
    problem: `${withoutOneClick} of ${bulk} bulk messages were sent without one-click unsubscription (RFC 8058)`,
    remedy:
      'let unsubscribe links be added (the setting unsubscribe, or a group), or set List-Unsubscribe with an https URL and ' +
      '"List-Unsubscribe-Post: List-Unsubscribe=One-Click"; requests at your own URL must take effect within two days',
  })
}

function ptrRequirement({ state, wrong }: PtrFact): Requirement {
  return requirement('ptr', state, {
    problem: `the PTR record of a source is not right: ${wrong.slice(0, 5).join(', ')}`,
    remedy: 'the operator of this service corrects it',
  })
}

function tls({ providers }: Receiver, tlsOf: TlsOfProvider): Requirement {
  const found = providers.map(tlsOf)
  if (found.every((one) => one === true)) return { name: 'tls', state: 'right' }
  const problem = found.includes(undefined)
    ? 'this service does not send mail there itself'
    : 'TLS is used where it is offered; without it mail is sent in plain text'
  const remedy = found.includes(undefined)
    ? {}
    : { remedy: 'the operator of this service sets "tls: required" for the provider' }
  return { name: 'tls', state: 'unchecked', problem, ...remedy }
}

/** Google reports no single complaints, only the rate in Postmaster Tools. */
function complaints(receiver: Receiver, facts: DomainFacts, reporting: ReadonlySet<string>): Requirement {
  const share = complaintShare(receiver, facts, reporting)
  if (share === undefined) {
    const problem = 'no complaint of this receiver has come to this service within 30 days'
    const google = 'the operator of this service imports the spam rate of Google Postmaster Tools'
    return {
      name: 'complaints',
      state: 'unchecked',
      problem,
      remedy: receiver.name === 'google' ? google : 'the operator of this service joins its complaint feedback loop',
    }
  }
  const { near, most } = COMPLAINT_SHARES
  if (share < near) return { name: 'complaints', state: 'right' }
  const problem = `${percent(share)} of the messages are reported as spam; it demands less than ${percent(most)}, better less than ${percent(near)}`
  const remedy = 'send only to recipients who have subscribed, and leave out those who no longer read the mail'
  return { name: 'complaints', state: share < most ? 'right' : 'missing', problem, remedy }
}

/** Undefined if it is not known. */
function complaintShare(
  { name, providers }: Receiver,
  { counts, googleSpamRate }: DomainFacts,
  reporting: ReadonlySet<string>,
): number | undefined {
  if (name === 'google' && googleSpamRate !== null) return googleSpamRate
  const known = providers.filter((provider) => reporting.has(provider))
  if (known.length === 0) return undefined
  const own = counts.filter(({ provider }) => known.includes(provider))
  const sum = (of: 'complained' | 'delivered') => own.reduce((total, one) => total + one[of], 0)
  const complained = sum('complained')
  return complained < MIN_COMPLAINTS ? 0 : complained / Math.max(complained, sum('delivered'))
}

function percent(share: number): string {
  return `${Math.round(share * 1e4) / 100} %`
}

function requirement(
  name: RequirementName,
  state: string,
  missing: { readonly problem: string; readonly remedy: string },
): Requirement {
  if (state === 'right' || state === 'unchecked') return { name, state }
  return { name, state: 'missing', ...missing }
}
