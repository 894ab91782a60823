import { buildApp } from '@postrider/api'
import { createLog, readConfig } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'

t.test('a sub-path that begins as a path of the API is refused, because a proxy may have taken it off', async (t) => {
  const { core, config } = await makeService(t, { MCP: 'on' })
  const app = await buildApp({ core, config, log: createLog('test', 'silent') })
  await app.ready()
  const routes = app.printRoutes({ commonPrefix: false })
  await app.close()
  const firsts = new Set([...routes.matchAll(/^ {4}[├└]── ([\w.-]+)/gm)].map(([, first]) => first as string))
  t.ok(firsts.size >= 10, [...firsts].join())
  for (const first of firsts) {
    for (const path of [first, `${first.toUpperCase()}/mail`])
      t.throws(
        () => readConfig({ PUBLIC_URL: `https://ship.example/${path}` }),
        { message: `PUBLIC_URL must not have a path that begins with /${first}, as paths of the service itself do` },
        path,
      )
  }
  t.equal(readConfig({ PUBLIC_URL: 'https://ship.example/apps/v2/' }).publicUrl, 'https://ship.example/apps/v2')
})
