import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { METRIC_TABLE, type MetricRow } from '@postrider/core'
import t from 'tap'
import { parse } from 'yaml'
import { dashboardFiles, dashboardQueries } from '../deploy/grafana/dashboards.ts'
import { METRICS_PAGE, metricsPage } from './helpers/metrics-page.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
const alerts: Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)
const queries = [...alerts.map(({ expr }) => expr), ...dashboardQueries()]

t.test('docs/metrics.md is what the table of metrics says', async (t) => {
  t.equal(read('docs/metrics.md'), metricsPage(), 'run npm run docs')
  t.ok(METRICS_PAGE.endsWith('docs/metrics.md'))
})

t.test('the dashboards are what their table says', async (t) => {
  for (const [name, text] of dashboardFiles()) t.equal(read(`deploy/grafana/${name}`), text, 'run npm run docs')
})

t.test('alerts and dashboards use metrics that exist, with labels that they have', async (t) => {
  for (const query of queries) {
    const [selectors, labels] = [
      [...query.matchAll(/postrider_([a-z_]+)(?:\{([^}]*)\})?/g)],
      new Set(['instance', 'job', 'le']),
    ]
    for (const [, written = '', matchers = ''] of selectors) {
      const name = written in METRIC_TABLE ? written : written.replace(/_(bucket|sum|count)$/, '')
      const row = (METRIC_TABLE as Readonly<Record<string, MetricRow>>)[name]
      t.ok(row, `${name}: ${query}`)
      if (name !== written) t.equal(row?.type, 'histogram', query)
      if (row?.type === 'counter') t.match(query, new RegExp(`(rate|increase)\\(postrider_${written}`), query)
      for (const label of Object.keys(row?.labels ?? {})) labels.add(label)
      for (const [, label = '', , value = ''] of matchers.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)) {
        const values = row?.labels[label]
        t.ok(values !== undefined, `${label}: ${query}`)
        if (Array.isArray(values)) for (const one of value.split('|')) t.ok(values.includes(one), `${one}: ${query}`)
      }
    }
    for (const [, list = ''] of query.matchAll(/by \(([^)]*)\)/g))
      for (const label of list.split(',').map((word) => word.trim())) t.ok(labels.has(label), `${label}: ${query}`)
  }
})

t.test('each alert has a case in its tests, and a section of the runbooks', async (t) => {
  const headings = [...read('docs/runbooks.md').matchAll(/^## (.*)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll(' ', '-'),
  )
  const cases = read('deploy/prometheus/alerts.test.yaml')
  for (const { alert, annotations } of alerts) {
    const [page, anchor = ''] = annotations.runbook.split('#')
    t.equal(page, 'docs/runbooks.md', alert)
    t.ok(headings.includes(anchor), `${alert}: ${anchor}`)
    t.ok(cases.includes(alert), alert)
  }
})
