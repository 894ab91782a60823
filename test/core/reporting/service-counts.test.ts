import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@postrider/core'
import t from 'tap'
import { measure, startMetrics } from '../../../packages/core/src/platform/metrics/metrics.ts'
import { createDiskFigures } from '../../../packages/core/src/reporting/disk-figures.ts'
import { readServiceCounts } from '../../../packages/core/src/reporting/service-counts.ts'
import { createServiceFigures } from '../../../packages/core/src/reporting/service-figures.ts'
import { makeService } from '../../helpers/service.ts'

t.test('domains, webhooks and sources in trouble are counted once a minute for all workers', async (t) => {
  const service = await makeService(t)
  const { sql, core } = service
  const names = await Promise.all([service.makeSender(), service.makeSender(), service.makeSender()])
  const [inactive, failing, deleted] = names.map(({ domain }) => domain)
  await sql`update domains set state = 'inactive' where name = any(${[inactive, deleted] as string[]})`
  await sql`update domains set deleted_at = service_now() where name = ${deleted as string}`
  await sql`update domains set broken_since = service_now() where name = ${failing as string}`
  await core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'relay.test', force: true })
  const list = (name: string, state: string) => sql`
    insert into source_listings (source_id, address, list, state, codes, severe, since, checked_at)
    select id, '45.0.0.1', ${name}, ${state}, '{}', false, service_now(), service_now() from sources`
  await list('one.example', 'listed')
  await list('two.example', 'listed')
  await list('three.example', 'unknown')
  const counts = { inactiveDomains: 1, failingDomains: 1, disabledWebhooks: 0, listedSources: 1 }
  const figures = { domains_inactive: 1, domains_failing: 1, webhooks_disabled: 0, sources_listed: 1 }
  t.match(await createServiceFigures(sql, service.config)(), figures)
  await sql`update domains set state = 'inactive' where name = ${failing as string}`
  t.strictSame(await readServiceCounts(sql), counts, 'another worker has those of the first')
  await sql`update instance set value = (value::jsonb || jsonb_build_object('at', (value::jsonb ->> 'at')::float8 - 61))::text
             where name = 'service counts'`
  // Those that see that it is due at once: one claims the turn, the others do not wait for it.
  const all = await Promise.all([readServiceCounts(sql), readServiceCounts(sql), readServiceCounts(sql)])
  t.ok(all.some((one) => one?.inactiveDomains === 2))
  t.strictSame(await readServiceCounts(sql), { ...counts, inactiveDomains: 2, failingDomains: 0 })
})

t.test('the free space of the folders of data and backups is measured', async (t) => {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'disk-'))
  const { disk_free_bytes: free, disk_bytes: all } = await createDiskFigures(
    readConfig({ DATA_DIR: folder, BACKUP_DIR: join(folder, 'not', 'yet', 'there') }),
  )()
  t.ok(free instanceof Map && all instanceof Map)
  for (const name of ['data', 'backup']) {
    const [part, whole] = [(free as Map<string, number>).get(name) as number, (all as Map<string, number>).get(name)]
    t.ok(part > 0 && part <= (whole as number), `${name}: ${part} of ${whole}`)
  }
  const metrics = await startMetrics({ process: 'delivery', version: 'test' })
  const forget = measure(() => ({
    disk_free_bytes: new Map([
      ['data', 7],
      ['elsewhere', 8],
    ]),
  }))
  t.strictSame((await metrics.text()).match(/^postrider_disk_free_bytes.*$/gm), [
    'postrider_disk_free_bytes{folder="data"} 7',
  ])
  forget()
  metrics.close()
  const one = await createDiskFigures(readConfig({ DATA_DIR: folder }))()
  t.strictSame([...(one.disk_free_bytes as Map<string, number>).keys()], ['data'])
})

t.test('relay and returns measure how long their certificate is valid', async (t) => {
  const metrics = await startMetrics({ process: 'relay', version: 'test' })
  t.teardown(() => metrics.close())
  const service = await makeService(t)
  await service.openRelay()
  const [, seconds] = /^postrider_certificate_seconds (\S+)$/m.exec(await metrics.text()) ?? []
  // A self-signed one is valid for ten years.
  t.ok(Math.abs(Number(seconds) / 86_400 - 3650) < 2, String(seconds))
})
