import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const { env } = await makeService(t)
const folder = t.testdir()

function file(text: string): string {
  const path = join(folder, `${Math.random()}.yaml`)
  writeFileSync(path, text)
  return path
}

t.test('providers are listed with their limits', async (t) => {
  const listed = await answered<{ providers: { name: string; connections?: number }[] }>(env, 'provider', 'list')
  t.ok(listed.providers.some(({ name, connections }) => name === 'google' && connections === 5))
  const { stdout } = await postrider(env, 'provider', 'list')
  t.match(stdout, /^google +5 +50 +\(none\) +required +\d+ +\.google\.com \.googlemail\.com$/m)
})

t.test('a plan shows what a file of providers would change', async (t) => {
  const path = file(`providers:
  - name: google
    mx: [.google.com, .googlemail.com]
    connections: 20
    rate: 50/s
    tls: required
  - { name: partner, mx: [mx.partner.example], connections: 2 }
rules:
  - { id: generic-busy, reply: 'too busy for you', times: 3, pause: 10m }
`)
  const { changes } = await answered<{ changes: { provider: string; limit: string; before: string; after: string }[] }>(
    env,
    ...['provider', 'plan', path],
  )
  const of = (provider: string, limit: string) =>
    changes.find((one) => one.provider === provider && one.limit === limit)
  t.match(of('google', 'connections'), { before: '5', after: '20' })
  t.match(of('google', 'messagesPerConnection'), { before: '50', after: 'as a site' })
  t.match(of('google', 'rate'), { before: '(none)', after: '50/s' })
  t.match(of('google', 'rule google-unusual-rate'), { after: '(none)' })
  t.match(of('partner', 'mx'), { before: '(none)', after: 'mx.partner.example' })
  t.match(of('(all hosts)', 'rule generic-busy'), { after: '"too busy for you"; 3 in 3600 s: pause for 600 s' })
  t.notOk(changes.some(({ provider }) => provider === 'yahoo'))
  const { stdout } = await postrider(env, 'provider', 'plan', file('providers: []\n'))
  t.match(stdout, 'the file is valid and changes nothing')
})

t.test('a file with a mistake is reported with its line, and a missing one by name', async (t) => {
  const bad = await postrider(env, 'provider', 'plan', file("rules:\n  - { id: a, reply: '.*', pause: 1h }\n"))
  t.match(bad, { code: 78, stderr: /FILE is invalid: .*, line 2: / })
  t.match(await postrider(env, 'provider', 'plan', join(folder, 'absent.yaml')), { code: 78, stderr: /ENOENT/ })
  t.match(await postrider(env, 'provider', 'plan'), { code: 2, stderr: /missing argument: file of providers/ })
})
