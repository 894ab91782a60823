import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dashboardQueries } from '../grafana/dashboards.ts'

/** Checks the alerts by their cases, and the queries of the dashboards, with promtool. Exits with 1 if one fails. */
const folder = mkdtempSync(join(tmpdir(), 'postrider-alerts-'))
const queries = join(folder, 'queries.yaml')
const rules = dashboardQueries().map((query, at) => ({
  record: `query:${at}`,
  expr: query.replaceAll('$__rate_interval', '1m'),
}))
// JSON is YAML.
writeFileSync(queries, JSON.stringify({ groups: [{ name: 'dashboards', rules }] }))
try {
  for (const call of [
    ['check', 'rules', 'alerts.yaml', queries],
    ['test', 'rules', 'alerts.test.yaml'],
  ]) {
    const { status, error } = spawnSync('promtool', call, { cwd: import.meta.dirname, stdio: 'inherit' })
    if (error) process.stderr.write('promtool was not found: install it, for example with "apt install prometheus"\n')
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
