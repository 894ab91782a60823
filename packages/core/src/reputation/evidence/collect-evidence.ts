import { loadProviders } from '../../delivery/providers/providers.ts'
import { readEgress } from '../../delivery/sources/egress.ts'
import type { RecordCheck, Source, SourceChecks, SourceStatus } from '../../delivery/sources/index.ts'
import type { Config } from '../../platform/config/config.ts'
import { onlyRow, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { figuresOfProvider } from '../provider-figures/store.ts'
import type { Evidence, EvidenceQuery, EvidenceSource } from './evidence.ts'
import { readAuthentication, readComplaints, readDays, readMeasures, sumOf } from './outcomes.ts'
import { type Span, sampleAttempts } from './sample-attempts.ts'

export interface EvidenceDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly sourceChecks: Pick<SourceChecks, 'read' | 'planDns'>
  readonly config: Pick<Config, 'providersFile' | 'heloName' | 'returnPathHost'>
}

/** Longer ago, neither attempts nor measures are stored by default. */
export const EVIDENCE_DAYS = { usual: 7, most: 30 } as const

/**
 * Collects what is known of the mail to a provider, from the beginning (UTC) of the first of some days until now. Reads counts, and a bounded sample
 * of attempts. Without sources, looks up the records of HELO_NAME, which takes at most a minute.
 *
 * Throws parameterInvalid (provider, source, days).
 */
export async function collectEvidence(
  { sql, secrets, sourceChecks, config }: EvidenceDependencies,
  { provider: name, source, days }: EvidenceQuery,
): Promise<Evidence> {
  const providers = loadProviders(config.providersFile)
  const provider = providers.named(name)
  if (!provider) {
    throw invalidParameter('provider', `must be one of ${providers.all.map((one) => one.name).join(', ')}`)
  }
  if (!Number.isInteger(days) || days < 1 || days > EVIDENCE_DAYS.most) {
    throw invalidParameter('days', `must be from 1 to ${EVIDENCE_DAYS.most}`)
  }
  const { sources } = await readEgress(sql)
  if (source !== null && !sources.some((one) => one.name === source)) {
    throw invalidParameter('source', 'must be the name of a source; "source list" lists them')
  }
  const { from, until } = onlyRow(
    await sql<{ from: Date; until: Date }[]>`
      select service_now() as until,
             (date_trunc('day', service_now() at time zone 'UTC') - make_interval(days => ${days}::int)) at time zone 'UTC' as "from"`,
  )
  const span: Span = { provider: name, source, from, until }
  const daily = await readDays(sql, span)
  return {
    kind: 'postrider-evidence',
    version: 1,
    provider: name,
    source,
    madeAt: until,
    from,
    until,
    contact: provider.contact ?? null,
    sender: {
      heloName: config.heloName,
      returnPathHost: config.returnPathHost,
      sources: describe(
        sources.filter((one) => source === null || one.name === source),
        await sourceChecks.read(),
      ),
      records: sources.length > 0 ? [] : (await sourceChecks.planDns()).records.map(brief),
    },
    outcomes: sumOf(daily),
    days: daily,
    authentication: await readAuthentication(sql, span),
    sample: await sampleAttempts(sql, secrets, span),
    complaints: await readComplaints(sql, span),
    measures: await readMeasures(sql, span),
    figures: await figuresOfProvider(sql, name, from),
  }
}

function describe(sources: readonly Source[], statuses: ReadonlyMap<number, SourceStatus>): EvidenceSource[] {
  return sources.map(({ id, name, address, address6, helo, isPaused }) => {
    const status = statuses.get(id)
    return {
      name,
      addresses: address6 === null ? [address] : [address, address6],
      helo,
      isPaused,
      checkedAt: status?.checkedAt ?? null,
      checks: (status?.records ?? []).map(brief),
      listings: (status?.listings ?? []).map(({ list, address, state }) => ({ list, address, state })),
    }
  })
}

function brief({ purpose, type, host, state, found }: RecordCheck) {
  return { purpose, type, host, state, found }
}
