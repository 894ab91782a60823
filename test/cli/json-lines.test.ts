import t from 'tap'
import { makeDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { commandLine, descendantsOf, KEY, startUp, upSettings } from './postrider.ts'

interface Line {
  readonly level: number
  readonly time: string
  readonly process: string
  readonly msg: string
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

t.test(
  'with LOG_FORMAT=json every line is JSON, to the last, and none has a key or a link that works once',
  async (t) => {
    const database = await makeDatabase()
    t.teardown(() => database.drop())
    const settings = await upSettings({ DATABASE_URL: database.url, LOG_FORMAT: 'json', RELAY_PROT: '1' })
    const first = await startUp(t, settings)
    const relay = descendantsOf(first.pid).find((one) => commandLine(one).includes('relay/src/server'))
    process.kill(relay as number, 'SIGKILL')
    await until('the end of the relay to be said', () => first.stdout.includes('restarting it'))
    const second = await startUp(t, settings)
    t.equal(await second.exited, 78)
    const wrong = await startUp(t, { ...settings, API_PORT: 'x' })
    t.equal(await wrong.exited, 78)
    t.equal(await first.end('SIGTERM'), 0)

    for (const { stdout, stderr } of [first, second, wrong])
      for (const line of linesOf(stdout + stderr))
        t.match(line, { level: Number, time: /^\d{4}-/, process: String, msg: String })
    t.match(linesOf(first.stdout), [{ msg: /^Postrider \d/ }])
    t.equal(linesOf(first.stdout).at(-1)?.msg, 'stopped')
    t.ok(linesOf(first.stdout).some(({ msg }) => /^relay ended \(SIGKILL\); restarting it$/.test(msg)))
    t.match(linesOf(first.stderr), [{ level: 50, msg: /RELAY_PROT/ }])
    t.ok(linesOf(second.stderr).filter(({ msg }) => /^port \d+ is in use/.test(msg)).length > 1)
    t.match(linesOf(wrong.stderr).at(-1), { level: 50, msg: /API_PORT/ })
    t.notMatch(first.stdout, KEY)
    t.notMatch(first.stdout, /\/app\/first|\/first\//)
  },
)

t.test('under a service manager no link is printed that makes its reader the owner', async (t) => {
  const database = await makeDatabase()
  t.teardown(() => database.drop())
  const service = await startUp(t, await upSettings({ DATABASE_URL: database.url, NODE_ENV: 'production' }))
  t.notMatch(service.stdout, 'works once')
  t.match(service.stdout, 'No user yet: "postrider user link" prints the link')
  t.equal(await service.end('SIGTERM'), 0)
})
