import {
  type Core,
  type DomainFinding,
  type DomainRequirements,
  type DomainWithRecords,
  type GuardAlarm,
  OPERATOR,
  quotedStrings,
  type ReceiverRequirements,
  type Requirement,
  ServiceError,
} from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand, type Given } from '../core-command.ts'
import { readText } from '../read-text.ts'

const CLAIMANT = 'Number of the account, if several accounts claim the domain'

export const domainCommands: readonly Command[] = [
  coreCommand({
    name: 'domain add',
    usage: '--account ID DOMAIN [--active] [--tracking-host LABELS] [--ed25519]',
    summary: 'Add a sending domain with a DKIM key',
    parameters: {
      active: 'Activate it without waiting for DNS',
      'tracking-host': 'Labels below the domain: the host name of its tracked links',
      ed25519: 'Also create an Ed25519 key, which signs in addition to the RSA key',
    },
    examples: ['domain add --account 12 ship.example'],
    run: async ({ domains }, { DOMAIN: name, account: accountId, active, ed25519, 'tracking-host': envelopeName }) => {
      const added = domains.add({ accountId, name, state: active ? 'active' : 'pending', envelopeName, ed25519 })
      const problem = `"${name}" is not a valid domain name such as example.com`
      return withNextSteps(shown(await added.catch(rethrow(name, problem))), name)
    },
  }),
  coreCommand({
    name: 'domain list',
    usage: '[--account ID]',
    summary: 'List sending domains',
    detail: 'Domains that send much to a large receiver and lack what it demands have a warning',
    run: async (core, { account }) => {
      await requireAccount(core, account)
      const [domains, alarms] = await Promise.all([core.domains.list(account), core.guard.alarms()])
      const lacking = new Map(alarms.map(({ domainId, missing }) => [domainId, missing.map(({ name }) => name)]))
      const data = domains.map((domain) => ({ ...domain, lacks: lacking.get(domain.id) ?? [] }))
      const rows = data.map(({ name, accountId, state, lacks }) => [name, accountId, state, lackText(lacks)])
      return { data, text: table(['domain', 'account', 'state', 'warning'], rows) }
    },
  }),
  coreCommand({
    name: 'domain activate',
    usage: 'DOMAIN [--account ID]',
    summary: 'Activate a sending domain without waiting for DNS',
    parameters: { account: CLAIMANT },
    run: async ({ domains }, { DOMAIN: name, account: accountId }) =>
      shown(await domains.activate(name, { accountId }).catch(rethrow(name))),
  }),
  coreCommand({
    name: 'domain dns',
    usage: 'DOMAIN [--account ID]',
    summary: 'Show the DNS records to publish for a domain',
    parameters: { account: CLAIMANT },
    examples: ['domain dns ship.example'],
    run: async (core, given) => shown(await requireDomain(core, given)),
  }),
  coreCommand({
    name: 'domain rotate',
    usage: 'DOMAIN [--account ID]',
    summary: 'Create the next DKIM key of a domain, of each algorithm; it signs once its record is found in the DNS',
    parameters: { account: CLAIMANT },
    examples: ['domain rotate ship.example'],
    run: async (core, given) => {
      const { accountId, name } = await requireDomain(core, given)
      return shown(await core.domains.rotateDkim(accountId, name, OPERATOR))
    },
  }),
  coreCommand({
    name: 'domain set-key',
    usage: 'DOMAIN --selector NAME --file FILE [--account ID]',
    summary: 'Use a DKIM key of your own for a domain; it signs once its record is found in the DNS',
    parameters: {
      selector: 'Selector of the key',
      file: 'Private key: RSA with 1024 to 4096 bits, or Ed25519; unencrypted PEM',
      account: CLAIMANT,
    },
    examples: ['domain set-key ship.example --selector own1 --file own1.pem'],
    prepare: ({ selector, file, ...given }) => {
      const key = { selector, privateKey: readText(file) }
      return async (core) => {
        const { accountId, name } = await requireDomain(core, given)
        const { domain, warnings } = await core.domains.setDkimKey(accountId, { name, ...key }, OPERATOR)
        const { text } = shown(domain)
        return { data: { ...domain, warnings }, text: [...warnings.map((one) => `warning: ${one}`), text].join('\n') }
      }
    },
  }),
  coreCommand({
    name: 'domain ed25519',
    usage: 'DOMAIN on|off [--account ID]',
    summary:
      'Sign mail of a domain with an Ed25519 key, too, or no longer; the key signs once its record is found in the DNS',
    parameters: { account: CLAIMANT },
    examples: ['domain ed25519 ship.example on'],
    run: async (core, { 'on|off': ed25519, ...given }) => {
      const { accountId, name } = await requireDomain(core, given)
      return shown(await core.domains.setEd25519(accountId, { name, ed25519 }, OPERATOR))
    },
  }),
  coreCommand({
    name: 'domain share',
    usage: 'DOMAIN on|off [--account ID]',
    summary: 'Let the subaccounts of its account send from a domain, or no longer',
    parameters: { account: CLAIMANT },
    examples: ['domain share ship.example on'],
    run: async (core, { 'on|off': shared, ...given }) => {
      const { accountId, name } = await requireDomain(core, given)
      const domain = await core.domains.share(accountId, { name, shared }, OPERATOR)
      const text = `${domain.name} is ${domain.shared ? '' : 'not '}shared with the subaccounts of account ${accountId}`
      return { data: domain, text }
    },
  }),
  coreCommand({
    name: 'domain delete',
    destroys: true,
    usage: 'DOMAIN [--account ID]',
    summary: 'Delete a sending domain; accepted messages are still signed and delivered',
    parameters: { account: CLAIMANT },
    look: requireDomain,
    run: async (core, given) => {
      const { accountId, name } = await requireDomain(core, given)
      await core.domains.remove(accountId, name, OPERATOR)
      return { data: { deleted: name, accountId }, text: `domain ${name} deleted` }
    },
  }),
  coreCommand({
    name: 'domain check',
    usage: 'DOMAIN [--account ID]',
    summary: 'Check the DNS records of a domain now',
    detail: 'The domain is activated once they are correct',
    parameters: { account: CLAIMANT },
    examples: ['domain check ship.example'],
    run: async (core, given) => {
      const domain = await requireDomain(core, given)
      const verified = await core.domains.verify(domain.accountId, domain.name, OPERATOR)
      const [findings, requirements, alarms] = await Promise.all([
        core.domains.findings(domain.id),
        core.guard.requirements(domain.id),
        core.guard.alarms(),
      ])
      const alarm = alarms.find(({ domainId }) => domainId === domain.id)
      return checked(verified, { findings, requirements, alarm })
    },
  }),
]

/** Throws {@link CommandError}. */
function requireDomain({ domains }: Core, { DOMAIN: name, account }: Given<'DOMAIN [--account ID]'>) {
  return domains.show(name, account).catch(rethrow(name))
}

/** `problem`: the message for an invalid or unknown name. */
function rethrow(name: string, problem = `domain "${name}" not found; "domain list" lists all domains`) {
  return (error: unknown): never => {
    if (error instanceof ServiceError && error.errorName === 'domainInvalid') throw new CommandError(problem)
    if (error instanceof ServiceError && error.errorName === 'domainTaken') {
      throw new CommandError(`domain "${name}" already exists; find its account with "domain list"`)
    }
    throw error
  }
}

function shown(domain: DomainWithRecords): Answer {
  const rows = domain.dns.map(({ purpose, type, host, value }) => [purpose, type, host, value])
  const long = domain.dns.filter(({ strings }) => strings)
  const host = domain.dns.find(({ provisional, type }) => provisional && type === 'CNAME')?.value
  const parts = [
    `${domain.name} is ${domain.state}`,
    table(['purpose', 'type', 'host', 'value'], rows, { whole: ['value'] }),
    ...(long.length > 0 ? ['In strings of at most 255 characters, as a zone file has them:'] : []),
    ...long.map(({ host, type, value }) => `${host}. ${type} ${quotedStrings(value)}`),
    ...(host === undefined
      ? []
      : [
          `warning: the host name "${host}" is not final; set RETURN_PATH_HOST and PUBLIC_URL before the records are published`,
        ]),
  ]
  return { data: domain, text: parts.join('\n\n') }
}

/** Tells the user what a domain that is not yet active needs. */
function withNextSteps(answer: Answer, name: string): Answer {
  const { state } = answer.data as DomainWithRecords
  if (state === 'active') return answer
  const steps = `Publish these records. The domain is then activated within an hour; "domain check ${name}" checks them now.`
  return { data: answer.data, text: `${answer.text}\n\n${steps}` }
}

interface Guarded {
  readonly findings: readonly DomainFinding[]
  readonly requirements: DomainRequirements
  readonly alarm: GuardAlarm | undefined
}

/** The records with the result of their last check, what large receivers demand, and refusals of providers that are about the domain. */
function checked(domain: DomainWithRecords, { findings, requirements, alarm }: Guarded): Answer {
  const rows = domain.dns.map(({ purpose, host, state, required, problem }) => {
    return [purpose, host, required ? state : `${state} (optional)`, problem]
  })
  const sections = [
    `${domain.name} is ${domain.state}`,
    table(['purpose', 'host', 'state', 'problem'], rows),
    requirementsText(requirements.receivers, alarm),
    ...(requirements.isHeld ? ['warning: bulk mail of the domain is held until it has what is missing'] : []),
    ...(findings.length === 0 ? [] : [findingsText(findings)]),
  ]
  const { general, receivers, isHeld } = requirements
  const data = { ...domain, findings, requirements: general, receivers, isHeld, alarm: alarm ?? null }
  return { data, text: sections.join('\n\n') }
}

const REQUIREMENTS: Readonly<Record<Requirement['name'], string>> = {
  dkim: 'DKIM',
  spf: 'SPF or own return path',
  dmarc: 'DMARC',
  alignment: 'From aligned with DKIM or SPF',
  oneClick: 'one-click unsubscribe',
  complaints: 'few complaints',
  from: 'From of a domain of your own',
  ptr: 'PTR of the sources',
  tls: 'TLS',
  format: 'format (RFC 5322)',
}

const STATES: Readonly<Record<Requirement['state'], string>> = {
  right: 'fulfilled',
  missing: 'missing',
  unchecked: 'not known',
  unneeded: 'not needed',
}

/** A table of the demands of receivers, each once with its state and what is to be done; then where they were read. */
function requirementsText(receivers: readonly ReceiverRequirements[], alarm: GuardAlarm | undefined): string {
  const demands = receivers.flatMap(({ label, requirements }) =>
    requirements.map(({ name, state, senders, problem, remedy }) => ({
      label,
      what: [REQUIREMENTS[name], STATES[state], senders === 'all' ? 'all' : 'large'],
      remedy: [problem, remedy].filter((one) => one !== undefined).join('; '),
    })),
  )
  const same = Map.groupBy(demands, ({ what, remedy }) => [...what, remedy].join('\n'))
  const rows = [...same.values()].flatMap(([first, ...others]) =>
    first ? [[...first.what, [first, ...others].map(({ label }) => label).join(', '), first.remedy]] : [],
  )
  const read = receivers.map(
    ({ label, sources }) => `${label}: ${sources.map((one) => `${one.address} (${one.read})`).join(', ')}`,
  )
  const demanded = table(['requirement', 'state', 'senders', 'demanded by', 'what to do'], rows)
  const text = `What large receivers demand:\n\n${demanded}\n\n${read.join('\n')}`
  if (!alarm) return text
  const { organisational, delivered, receiver } = alarm
  return `${text}\n\nwarning: ${delivered} messages of ${organisational} were delivered to ${receiver} within 24 hours, which demands what is missing`
}

function lackText(names: readonly Requirement['name'][]): string {
  return names.length === 0 ? '' : `lacks ${names.map((name) => REQUIREMENTS[name]).join(', ')}`
}

function findingsText(findings: readonly DomainFinding[]): string {
  const rows = findings.map(({ place, code, count, lastAt, reply }) => [
    place,
    code,
    count,
    lastAt.toISOString(),
    reply,
  ])
  return `Providers refused mail because of this domain within the last week; correct its SPF, DKIM and DMARC records:\n\n${table(
    ['provider', 'code', 'times', 'last at', 'reply'],
    rows,
  )}`
}
