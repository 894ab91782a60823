import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, defaultProviders, loadProviders } from '@postrider/core'
import t from 'tap'

const folder = mkdtempSync(join(tmpdir(), 'postrider-providers-'))
const builtIn = defaultProviders()

function own(content: string): string {
  const path = join(folder, `${Math.random()}.yaml`)
  writeFileSync(path, content)
  return path
}

t.test("an operator's file replaces what has the same name, adds the rest, and keeps everything else", async (t) => {
  const providers = loadProviders(
    own(`rules:
  - { id: mine, reply: 'server busy, come tomorrow', pause: 24h }
  - { id: generic-busy, reply: 'come later', pause: 1m }
providers:
  - { name: google, mx: [.google.com], connections: 2, rules: [{ id: google-volume, enhanced: 4.7.28, pause: 1h }] }
  - { name: harbor, mx: [.harbor.example], connections: 3 }`),
  )
  t.strictSame(providers.all.filter(({ name }) => name === 'google').length, 1)
  const google = providers.named('google')
  t.match(google, { connections: 2, mx: ['.google.com'], tlsRequired: false })
  t.strictSame(
    google?.rules.map(({ id }) => id),
    ['google-volume'],
  )
  t.notOk('messagesPerConnection' in (google ?? {}), 'nothing is left of the entry that was replaced')
  t.equal(providers.ofHost('x.googlemail.com'), undefined)
  t.equal(providers.ofHost('mx.harbor.example')?.connections, 3)
  t.equal(providers.ofHost('mta5.am0.yahoodns.net')?.name, 'yahoo')
  t.strictSame(
    providers.generalRules.map(({ id, effect }) => [id, effect.kind]),
    [
      ['mine', 'pause'],
      ['domain-listed', 'pause'],
      ['address-listed', 'pause'],
      ['generic-busy', 'pause'],
    ],
  )
  t.equal(loadProviders(undefined), builtIn)
  t.equal(builtIn.named('google')?.connections, 5)
})

t.test("an invalid operator's file is refused with the setting, the file, the line and the reason", async (t) => {
  const message = (path: string): string => {
    try {
      loadProviders(path)
    } catch (error) {
      t.ok(error instanceof ConfigError)
      return (error as Error).message
    }
    return 'accepted'
  }
  const refused = (content: string, expected: RegExp) => {
    const path = own(content)
    const [before, problem] = message(path).split(`${path}, line `)
    t.equal(before, 'PROVIDERS_FILE is invalid: ')
    t.match(problem, expected)
  }
  refused(
    'providers:\n  - name: mine\n    mx: [.google.com]',
    /^3: "\.google\.com" is already used in \/.*providers\.yaml, line \d+ of provider google;/,
  )
  refused('rules:\n  - { id: apple-bs02, reply: four, pause: 1m }', /^2: "apple-bs02" is already used in \//)
  refused(
    'providers:\n  - { name: google, mx: [] }\n  - { name: google, mx: [] }',
    /^3: "google" is already used in line 2;/,
  )
  refused(
    'rules:\n  - { id: generic-busy, reply: four, pause: 1m }\n  - { id: generic-busy, reply: four, pause: 1m }',
    /^3: /,
  )
  refused('#'.repeat(1024 * 1024 + 1), /^1: the file is larger than 1 MiB/)
  t.match(message(folder), /^PROVIDERS_FILE must be a file \(/)
  t.match(message('/dev/null'), /^PROVIDERS_FILE must be a file \(/)
  t.match(message(join(folder, 'none')), /^PROVIDERS_FILE must be a file that this user can read: ENOENT/)
  const latin1 = own('')
  writeFileSync(latin1, Buffer.from('# refus\u00e9', 'latin1'))
  t.match(message(latin1), /^PROVIDERS_FILE must be a file in UTF-8/)
})
