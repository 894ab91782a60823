import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** One panel: its title, the unit of its values, and what it shows: a query for each line, by the name of the line. */
type Panel = readonly [title: string, unit: string, queries: Readonly<Record<string, string>>]

const rate = (metric: string, by?: string): string => {
  const sum = by === undefined ? 'sum' : `sum by (${by})`
  return `${sum} (rate(postrider_${metric}[$__rate_interval]))`
}
/** Quantiles of a histogram, one line each. */
const quantiles = (metric: string, by?: string): Record<string, string> =>
  Object.fromEntries(
    [0.5, 0.99].map((quantile) => [
      `p${quantile * 100}${by ? ` {{${by}}}` : ''}`,
      `histogram_quantile(${quantile}, ${rate(`${metric}_bucket`, ['le', ...(by ? [by] : [])].join(', '))})`,
    ]),
  )
const largest = (metric: string): string => `max(postrider_${metric})`

/** The dashboards, by the name of their file. `npm run docs` writes them. */
const DASHBOARDS: Readonly<Record<string, { readonly title: string; readonly panels: readonly Panel[] }>> = {
  overview: {
    title: 'Postrider: overview',
    panels: [
      ['Accepted recipients per second', 'short', { '{{door}}': rate('accepted_recipients_total', 'door') }],
      ['Attempts per second', 'short', { '{{outcome}}': rate('attempts_total', 'outcome') }],
      ['Oldest due mail', 's', { 'waiting for': largest('queue_oldest_due_seconds') }],
      [
        'Deliveries in the queue',
        'short',
        { queue: largest('queue_deliveries'), 'in flight': 'sum(postrider_deliveries_in_flight)' },
      ],
      ['From acceptance to delivery', 's', quantiles('delivery_seconds', 'class')],
      ['Acceptance', 's', quantiles('accept_seconds', 'door')],
      ['Refused messages per second', 'short', { '{{error}}': rate('refused_messages_total', 'error') }],
      [
        'HTTP responses per second',
        'short',
        { '{{surface}} {{status_class}}': rate('http_requests_total', 'surface, status_class') },
      ],
      ['Events per second', 'short', { '{{type}}': rate('events_total', 'type') }],
      ['Lag of events', 's', { lag: largest('events_lag_seconds') }],
      ['Processes that are not ready', 'short', { '{{instance}}': '1 - postrider_ready' }],
      ['Webhook batches per second', 'short', { '{{result}}': rate('webhook_batches_total', 'result') }],
      ['Exports per second', 'short', { '{{result}}': rate('exports_total', 'result') }],
      [
        'Log-ins per second',
        'short',
        {
          'dashboard {{result}}': rate('logins_total', 'result'),
          'SMTP {{result}}': rate('smtp_logins_total', 'result'),
        },
      ],
    ],
  },
  delivery: {
    title: 'Postrider: delivery',
    panels: [
      ['Delivered per second', 'short', { '{{provider}}': rate('attempts_total{outcome="delivered"}', 'provider') }],
      ['Deferred per second', 'short', { '{{provider}}': rate('attempts_total{outcome="deferred"}', 'provider') }],
      ['Bounced per second', 'short', { '{{provider}}': rate('attempts_total{outcome="bounced"}', 'provider') }],
      [
        'Failures by stage, per second',
        'short',
        { '{{outcome}} {{stage}}': rate('attempt_failures_total', 'outcome, stage') },
      ],
      ['Duration of attempts', 's', quantiles('attempt_seconds', 'outcome')],
      ['Claims', 's', quantiles('claim_seconds')],
      ['Results recorded', 's', quantiles('record_seconds')],
      ['Deliveries in flight', 'short', { '{{instance}}': 'postrider_deliveries_in_flight' }],
      ['Lookups of mail hosts per second', 'short', { '{{result}}': rate('mx_lookups_total', 'result') }],
      ['Lookups of mail hosts', 's', quantiles('mx_lookup_seconds')],
      ['Sessions by TLS version, per second', 'short', { '{{version}}': rate('outgoing_tls_total', 'version') }],
      [
        'Sessions by demanded level and result, per second',
        'short',
        { '{{level}} {{result}}': rate('outgoing_tls_total', 'level, result') },
      ],
      ['Pauses in force', 'short', { '{{provider}}': 'max by (provider) (postrider_pauses) > 0' }],
      [
        'Limits set by back-off rules, per hour',
        'short',
        { '{{provider}} {{setting}}': 'sum by (provider, setting) (increase(postrider_back_offs_total[1h])) > 0' },
      ],
      ['Indeterminate attempts per second', 'short', { attempts: rate('indeterminate_attempts_total') }],
      [
        'Takeovers and stale results per second',
        'short',
        { takeovers: rate('takeovers_total'), 'stale results': rate('stale_results_total') },
      ],
      [
        'In trouble',
        'short',
        {
          'inactive domains': largest('domains_inactive'),
          'failing domains': largest('domains_failing'),
          'disabled webhooks': largest('webhooks_disabled'),
          'listed sources': largest('sources_listed'),
        },
      ],
      ['Certificates expire in', 's', { '{{instance}}': 'postrider_certificate_seconds' }],
    ],
  },
  database: {
    title: 'Postrider: database',
    panels: [
      ['Commits of accepted mail', 's', quantiles('accept_commit_seconds')],
      ['Messages per commit', 'short', quantiles('accept_commit_messages')],
      [
        'Connections',
        'short',
        { used: largest('database_connections'), allowed: largest('database_connections_limit') },
      ],
      ['Size', 'bytes', { size: largest('database_bytes') }],
      ['Oldest transaction', 's', { age: largest('database_oldest_transaction_seconds') }],
      ['Furthest standby', 'bytes', { behind: largest('database_replica_lag_bytes') }],
      ['Transaction ids in use', 'percentunit', { used: largest('database_transaction_id_ratio') }],
      ['Since the last base backup', 's', { age: largest('backup_age_seconds') }],
      ['Since the last archived segment', 's', { age: largest('database_archive_age_seconds') }],
      ['Failures to archive', 'short', { failures: largest('database_archive_failures') }],
      ['Weeks of partitions ahead', 'short', { weeks: 'min(postrider_database_partition_weeks)' }],
      ['Numbering of events', 's', quantiles('sequence_seconds')],
      ['Free on disk', 'bytes', { '{{instance}} {{folder}}': 'postrider_disk_free_bytes' }],
      ['Gauges that could not be read, per second', 'short', { failures: rate('measurement_failures_total') }],
    ],
  },
  processes: {
    title: 'Postrider: processes',
    panels: [
      ['Processor time', 'percentunit', { '{{instance}}': 'rate(process_cpu_seconds_total[$__rate_interval])' }],
      ['Memory', 'bytes', { '{{instance}}': 'process_resident_memory_bytes' }],
      ['Lag of the event loop, p99', 's', { '{{instance}}': 'nodejs_eventloop_lag_p99_seconds' }],
      [
        'Garbage collection, part of the time',
        'percentunit',
        { '{{instance}}': 'sum by (instance) (rate(nodejs_gc_duration_seconds_sum[$__rate_interval]))' },
      ],
      ['Open files', 'short', { '{{instance}}': 'process_open_fds' }],
      ['HTTP connections', 'short', { '{{instance}}': 'postrider_http_connections' }],
      ['HTTP requests', 's', quantiles('http_request_seconds', 'surface')],
      ['SMTP connections', 'short', { '{{instance}}': 'postrider_smtp_connections' }],
      ['SMTP replies per second', 'short', { '{{code_class}}': rate('smtp_replies_total', 'code_class') }],
      ['Memory for bodies', 'percentunit', { '{{instance}}': 'postrider_body_bytes / postrider_body_limit_bytes' }],
      ['Versions', 'short', { '{{process}} {{version}}': 'count by (process, version) (postrider_build_info)' }],
    ],
  },
}

const WIDTH = 12
const HEIGHT = 8

/** Returns the text of each dashboard as Grafana imports it, by the name of its file. */
export function dashboardFiles(): Map<string, string> {
  return new Map(
    Object.entries(DASHBOARDS).map(([name, { title, panels }]) => {
      const dashboard = {
        uid: `postrider-${name}`,
        title,
        tags: ['postrider'],
        schemaVersion: 39,
        editable: true,
        refresh: '30s',
        time: { from: 'now-3h', to: 'now' },
        templating: { list: [{ name: 'source', label: 'Data source', type: 'datasource', query: 'prometheus' }] },
        panels: panels.map(panelOf),
      }
      return [`${name}.json`, `${JSON.stringify(dashboard, null, 2)}\n`]
    }),
  )
}

function panelOf([title, unit, queries]: Panel, at: number) {
  return {
    id: at + 1,
    title,
    type: 'timeseries',
    datasource: { type: 'prometheus', uid: '$source' },
    gridPos: { x: (at % 2) * WIDTH, y: Math.floor(at / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, expr], no) => ({
      refId: String.fromCharCode(65 + no),
      expr,
      legendFormat,
    })),
  }
}

/** Returns all queries of the dashboards. */
export function dashboardQueries(): string[] {
  return Object.values(DASHBOARDS).flatMap(({ panels }) => panels.flatMap(([, , queries]) => Object.values(queries)))
}

if (import.meta.main)
  for (const [name, text] of dashboardFiles()) writeFileSync(fileURLToPath(new URL(name, import.meta.url)), text)
