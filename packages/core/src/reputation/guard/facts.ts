import { createPublicKey } from 'node:crypto'
import type { RequirementMode } from '../../accounts/account-settings.ts'
import { BULK, DELIVERY_CLASSES } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'

/** The facts about a domain on which the demands of receivers depend. States of records are those of the last successful DNS query. */
export interface DomainFacts {
  readonly id: number
  readonly name: string
  /** Whether bulk mail of the account that owns it waits, because the domain lacked something at its last check. */
  readonly isHeld: boolean
  /** State of the record of the signing key. */
  readonly dkim: string
  /** Bits of the signing key; null if there is none, or one of another type than RSA. */
  readonly dkimBits: number | null
  readonly spf: string
  /** Whether bounces go to a host of the domain, whose SPF is that of this service. */
  readonly hasReturnPath: boolean
  readonly dmarc: { readonly state: string; readonly problem?: string } | null
  /** Bulk messages among the account's latest of the last 24 hours, and those of them without one-click unsubscription. */
  readonly bulk: number
  readonly withoutOneClick: number
  /** Complaints and delivered messages of the last 24 hours by provider, as far as there are any. */
  readonly counts: readonly ProviderCounts[]
  /** The spam rate that Google Postmaster Tools reported last, as a share; null if none was imported for the last week. */
  readonly googleSpamRate: number | null
}

export interface ProviderCounts {
  readonly provider: string
  readonly complained: number
  readonly delivered: number
}

/** Messages of the last 24 hours that are looked at, the latest first. */
const MAX_MESSAGES = 1000
/** Figures of Google Postmaster Tools that are its spam rate: of the API, and of the export of its dashboard. */
const SPAM_RATES = ['spam_rate', 'spam rate', 'user-reported spam rate', 'spam rate, reported']

interface Row extends Omit<DomainFacts, 'dkimBits' | 'googleSpamRate'> {
  readonly publicKey: Buffer | null
  readonly spamRate: string | null
}

/** Reads the facts of these domains. A bounded number of index probes for each: 24 hours of counts, a week of figures, 1000 messages. */
export async function readDomainFacts(
  sql: AnySql,
  ids: readonly number[],
  usual: RequirementMode,
): Promise<DomainFacts[]> {
  const state = (key: ReturnType<AnySql>) => sql`coalesce(d.records->(${key})->>'state', 'unchecked')`
  const rows = await sql<Row[]>`
    select d.id, d.name, k.public_key as "publicKey",
           coalesce(g.lacks <> '{}', false)
             and coalesce((select requirements from accounts a where a.id = d.account_id), ${usual}) = 'hold' as "isHeld",
           case when k.selector is null then 'unchecked' else ${state(sql`'TXT ' || k.selector || '._domainkey.' || d.name`)} end as dkim,
           ${state(sql`'TXT ' || d.name`)} as spf, d.return_path_host is not null as "hasReturnPath",
           g.dmarc, m.bulk, m.without as "withoutOneClick", c.counts, f.value as "spamRate"
      from domains d
      left join domain_guards g on g.domain_id = d.id
      left join lateral (select selector, public_key from dkim_keys where domain_id = d.id and state = 'active' limit 1) k on true
      left join lateral (
        select value from provider_figures
         where provider = 'google' and subject = d.name and day > (service_now() at time zone 'UTC')::date - 8
           and lower(name) = any(${SPAM_RATES}::text[]) order by day desc limit 1) f on true
     cross join lateral (
       select count(*)::int as bulk, (count(*) filter (where not ${hasOneClick(sql)}))::int as without
         from (select settings, domain_id from messages
                where account_id = d.account_id and id >= uuidv7_floor(service_now() - interval '1 day')
                order by id desc limit ${MAX_MESSAGES}) latest
        where domain_id = d.id and settings->>'class' = ${DELIVERY_CLASSES[BULK]}
     ) m
     -- An hour at a time, since the key has the hour before the domain: an account with many domains has many rows in each hour.
     cross join lateral (
       select coalesce(jsonb_agg(jsonb_build_object('provider', provider, 'complained', complained, 'delivered', delivered)), '[]') as counts
         from (select one.provider, sum(one.complained)::int as complained, sum(one.delivered)::int as delivered
                 from generate_series(0, 23) back
                cross join lateral (
                  select provider, complained, delivered from delivery_counts
                   where account_id = d.account_id and domain_id = d.id
                     and hour = date_trunc('hour', service_now(), 'UTC') - make_interval(hours => back)) one
                where one.provider <> '' group by 1) by_provider
     ) c
     where d.id = any(${[...ids]}::int[])`
  return rows.map(({ publicKey, spamRate, ...row }) => ({
    ...row,
    dkimBits: publicKey && bitsOf(publicKey),
    googleSpamRate: shareIn(spamRate),
  }))
}

/** Like hasOneClick of submission/one-click.ts. */
function hasOneClick(sql: AnySql): ReturnType<AnySql> {
  return sql`(coalesce(settings->>'oneClick', settings->>'unsubscribe') is not distinct from 'true')`
}

function bitsOf(publicKey: Buffer): number | null {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
    return asymmetricKeyDetails?.modulusLength ?? null
  } catch {
    return null
  }
}

/** Returns the share in a figure such as 0.0012 or 0.12%; null if it is neither. */
function shareIn(value: string | null): number | null {
  if (value === null) return null
  const text = value.trim()
  const isPercent = text.endsWith('%')
  const number = Number(isPercent ? text.slice(0, -1) : text)
  if (text === '' || !Number.isFinite(number) || number < 0) return null
  return isPercent ? number / 100 : number
}

/** Complaints of the last 30 days that are looked at, to find out which providers report them. */
const MAX_COMPLAINTS = 10_000

/** Returns the providers that have reported a complaint to this installation within 30 days: the others never do. */
export async function readReportingProviders(sql: AnySql): Promise<ReadonlySet<string>> {
  const rows = await sql<{ provider: string }[]>`
    select distinct provider from (
      select provider from delivery_counts where complained > 0 and hour > service_now() - interval '30 days'
       order by hour desc limit ${MAX_COMPLAINTS}) latest
     where provider <> ''`
  return new Set(rows.map(({ provider }) => provider))
}

export interface PtrFact {
  readonly state: 'right' | 'missing' | 'unchecked'
  /** Sources with a wrong PTR record, by name. */
  readonly wrong: readonly string[]
}

/** The PTR records of all active sources: each may send mail of each domain. */
export async function readPtr(sql: AnySql): Promise<PtrFact> {
  const rows = await sql<{ name: string; state: string }[]>`
    select s.name, r->>'state' as state
      from sources s join source_checks c on c.source_id = s.id
     cross join jsonb_array_elements(c.records) r
     where s.state = 'active' and r->>'purpose' = 'reverse' order by s.name`
  const wrong = [...new Set(rows.filter(({ state }) => ['wrong', 'missing'].includes(state)).map(({ name }) => name))]
  if (wrong.length > 0) return { state: 'missing', wrong }
  return { state: rows.some(({ state }) => state === 'right') ? 'right' : 'unchecked', wrong }
}
