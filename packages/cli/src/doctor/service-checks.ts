import {
  type DomainOverview,
  listSetAside,
  readEgress,
  readEventLag,
  readSourceStatuses,
  readTroubledWebhooks,
} from '@postrider/core'
import type { Check } from './check.ts'
import { bad, type CheckResult, counted, firstOf, ok, spanText, warn } from './check-result.ts'
import type { Readings } from './readings.ts'
import { NOT_CHECKED, warningsOf } from './source-status.ts'

/** Seconds between an event and its number. */
const EVENT_LAG = { warn: 60, bad: 600 }

/** The work of the service, as it is stored. */
export const serviceChecks: readonly Check[] = [
  { area: 'processes', name: 'event numbers', database: true, run: checkEvents },
  { area: 'processes', name: 'webhooks', database: true, run: checkWebhooks },
  { area: 'mail', name: 'source addresses', database: true, run: checkSources },
  { area: 'mail', name: 'set-aside deliveries', database: true, run: checkSetAside },
  { area: 'mail', name: 'sending domains', database: true, run: checkDomains },
  { area: 'mail', name: 'records of domains', database: true, run: checkDomainRecords },
]

async function checkEvents({ sql }: Readings): Promise<CheckResult> {
  const { seconds } = await readEventLag(sql())
  if (seconds === null || seconds <= EVENT_LAG.warn) return ok('events get their numbers at once')
  const text = `the oldest event without a number happened ${spanText(seconds)} ago; statistics, feeds and webhooks lack it`
  const fix = 'start a delivery worker, and end long transactions (check "transactions")'
  return seconds > EVENT_LAG.bad ? bad(text, fix) : warn(text, fix)
}

async function checkWebhooks({ sql }: Readings): Promise<CheckResult> {
  const { enabled, failing, disabled, dead, first } = await readTroubledWebhooks(sql())
  if (failing + disabled + dead === 0) return ok(`${enabled} enabled, all in order`)
  const parts = [
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(disabled > 0 ? [`${disabled} disabled after failures`] : []),
    ...(dead > 0 ? [`${dead} with dead-lettered batches`] : []),
  ]
  const names = first.map(({ id, accountId }) => `${id} of account ${accountId}`)
  return warn(
    `${parts.join(', ')}: webhooks ${firstOf(names, 5)}`,
    'have the owner correct the receiver, then send the batches again: POST /v2/webhooks/ID/redeliver, or in the dashboard',
  )
}

/** Evaluates the results that workers have stored; looks nothing up. */
async function checkSources({ sql, config }: Readings): Promise<CheckResult | undefined> {
  const [{ sources }, statuses] = await Promise.all([readEgress(sql()), readSourceStatuses(sql(), config)])
  if (sources.length === 0) return undefined
  const usable = sources.filter(({ isPaused, workers }) => !isPaused && workers > 0)
  if (usable.length === 0)
    return bad(
      `none of ${counted(sources.length, 'source')} can send: each is paused, or no running worker has its address`,
      'postrider source list shows why; postrider source resume NAME ends a pause',
    )
  const warnings = sources.flatMap(({ id, name, isPaused, workers }) => [
    ...(isPaused ? [`${name} is paused`] : workers === 0 ? [`no running worker has the address of ${name}`] : []),
    ...warningsOf(name, statuses.get(id) ?? NOT_CHECKED).map((text) => text.replace(/^warning: /, '')),
  ])
  if (warnings.length > 0)
    return warn(firstOf(warnings), 'postrider source list; correct the records, or ask the list to remove the address')
  const silent = sources.flatMap(({ id }) =>
    (statuses.get(id)?.listings ?? []).flatMap(({ state, list }) => (state === 'unknown' ? [list] : [])),
  )
  if (silent.length > 0)
    return warn(
      `no block list is known to have a source, but these did not answer: ${firstOf([...new Set(silent)])}`,
      'many lists refuse public resolvers: set DNS_SERVERS to one of your own, or leave the list out of BLOCK_LISTS',
    )
  return ok(`${counted(sources.length, 'source')}, none paused or in a block list`)
}

async function checkSetAside({ sql }: Readings): Promise<CheckResult> {
  const deliveries = await listSetAside(sql())
  const messages = [...new Set(deliveries.map(({ messageId }) => messageId))]
  return deliveries.length === 0
    ? ok('there are none')
    : warn(
        `${counted(deliveries.length, 'delivery', 'deliveries')} crashed workers and wait: messages ${firstOf(messages)}`,
        'postrider message aside lists them; message release ID tries them again, message fail ID ends them',
      )
}

async function checkDomains({ domains }: Readings): Promise<CheckResult> {
  const { active, inactive, pending, rejected, broken, overdue } = await domains()
  const counts = `${active} active, ${inactive} inactive, ${pending} pending, ${rejected} rejected`
  if (active === 0)
    return warn(
      `none is active, so nothing can be sent (${counts})`,
      pending > 0
        ? 'publish the records that postrider domain dns NAME prints; postrider domain check NAME activates it then'
        : 'postrider domain add, then publish the records that it prints',
    )
  if (overdue > 0)
    return warn(
      `the records of ${counted(overdue, 'domain')} have not been checked in time (${counts})`,
      'start a delivery worker: workers check them',
    )
  if (broken + inactive > 0)
    return warn(
      `${broken > 0 ? `${broken} of the active ones will be inactive, because a required record is gone; ` : ''}${counts}`,
      'publish the records of "records of domains", then: postrider domain check NAME',
    )
  return ok(counts)
}

async function checkDomainRecords({ domains }: Readings): Promise<CheckResult> {
  const overview = await domains()
  const { dkim, spf, dmarc, first } = overview
  const lacking = [
    ...(dkim > 0 ? [`DKIM of ${dkim}`] : []),
    ...(spf > 0 ? [`SPF of ${spf}`] : []),
    ...(dmarc > 0 ? [`DMARC of ${dmarc}`] : []),
  ]
  if (lacking.length === 0) return ok(recordsText(overview))
  const names = first.map(({ name, records }) => `${name} (${records.join(', ')})`)
  const text = `missing or wrong at the last check: ${lacking.join(', ')}; ${firstOf(names, 5)}`
  const fix = `postrider domain dns ${first[0]?.name ?? 'NAME'} prints what to publish`
  return warn(text, fix)
}

function recordsText({ active, inactive }: DomainOverview): string {
  return active + inactive === 0 ? 'no domain has been active' : 'no record was missing or wrong at the last checks'
}
