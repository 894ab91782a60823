import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { METRIC_TABLE, type MetricRow } from '@postrider/core'

/** Path of docs/metrics.md. */
export const METRICS_PAGE = fileURLToPath(new URL('../../docs/metrics.md', import.meta.url))

const INTRODUCTION = `# Metrics

This page is generated from the table in packages/core/src/platform/metrics/table.ts by \`npm run docs\`. Edit the table, not the page.

With \`METRICS_PORT\`, each process serves its metrics at \`GET /metrics\`, in the text format of Prometheus, on \`METRICS_HOST\` (by default
only on this machine). Processes of one host need a port each. With \`npm start\`, the API has the port of the setting, and relay, delivery
and returns have the next three:

    METRICS_PORT=9464 npm start
    curl http://127.0.0.1:9464/metrics

\`\`\`yaml
# prometheus.yml
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: postrider
    static_configs:
      - targets: ["127.0.0.1:9464", "127.0.0.1:9465", "127.0.0.1:9466", "127.0.0.1:9467"]
\`\`\`

Alerts are in [deploy/prometheus/alerts.yaml](../deploy/prometheus/alerts.yaml), and what to do about each in [runbooks.md](runbooks.md).
Dashboards for Grafana are in [deploy/grafana](../deploy/grafana).

No label has accounts, addresses or domains, and labels have a bounded number of values, so a process has fewer than 3,000 time series.
A gauge that cannot be read, for example because the database does not respond, is absent. Those of the queue, the events and the
database describe the whole service: every delivery process reports the same, at most 10 s old. Sum counters over the processes, and use
\`max\` for these gauges. Besides, each process has the metrics of Node that [prom-client](https://github.com/siimon/prom-client) collects
(\`process_…\`, \`nodejs_…\`): processor time, memory, event loop and garbage collection.
`

const PROCESSES = ['api', 'relay', 'returns', 'delivery']

/** Returns the page. */
export function metricsPage(): string {
  const heading = ['name', 'type', 'labels', 'processes', 'meaning']
  const rows = (Object.entries(METRIC_TABLE) as [string, MetricRow][]).map(([name, row]) => [
    `\`postrider_${name}\``,
    row.type,
    Object.entries(row.labels).map(labelText).join('<br>'),
    row.processes === undefined || row.processes.length === PROCESSES.length ? 'all' : row.processes.join(', '),
    row.help,
  ])
  const lines = [heading, heading.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `${INTRODUCTION}\n${lines.join('\n')}\n`
}

function labelText([label, values]: [string, readonly string[] | number]): string {
  if (typeof values === 'number')
    return values === 1 ? `\`${label}\`` : `\`${label}\` (at most ${values}, then \`other\`)`
  return `\`${label}\`: ${values.join(', ')}`
}

if (import.meta.main) writeFileSync(METRICS_PAGE, metricsPage())
