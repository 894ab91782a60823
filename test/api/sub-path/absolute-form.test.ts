import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { sayAndWait } from '../raw.ts'

t.test('a request target that is a whole URL means its path, below a sub-path and without one', async (t) => {
  for (const [publicUrl, targets] of [
    ['https://ship.example/mail', ['/mail/health/live', '/health/live']],
    ['https://ship.example', ['/health/live']],
  ] as const) {
    const service = await makeService(t, { PUBLIC_URL: publicUrl })
    const base = await service.openApi()
    const status = async (target: string) =>
      (await sayAndWait(t, base, `GET ${target} HTTP/1.1\r\nHost: ship.example\r\nConnection: close\r\n\r\n`))
        .statuses[0]
    for (const target of targets) {
      t.equal(await status(target), 200, target)
      for (const origin of ['http://ship.example', 'HTTPS://ship.example:443'])
        t.equal(await status(origin + target), 200, origin + target)
    }
    for (const target of [
      'http://ship.example/mailer',
      'http://ship.example',
      'http:///mail/health/live',
      'ftp://ship.example/mail/health/live',
    ])
      t.not(await status(target), 200, target)
  }
})
