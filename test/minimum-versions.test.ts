import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { MINIMUM_VERSIONS } from './minimum-versions.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
const lock = read('pnpm-lock.yaml')

/** Every version of every package that an install brings, also of those that others bring along. */
const installed = new Map<string, string[]>()
for (const [, name = '', version = ''] of section('packages').matchAll(
  /^ {2}'?((?:@[^@/]+\/)?[^@'\s]+)@([^:'(]+)'?:$/gm,
))
  installed.set(name, [...(installed.get(name) ?? []), version])

t.test('the lock file is read whole', async (t) => {
  t.ok([...installed.values()].flat().length > 300)
  t.strictSame(section('packages').match(/^ {2}\S.*$/gm)?.length, [...installed.values()].flat().length)
  for (const name of ['smtp-server', '@fastify/formbody', 'tap']) t.equal(installed.get(name)?.length, 1, name)
})

for (const { name, floor, why } of MINIMUM_VERSIONS)
  t.test(`every installed ${name} is ${floor} or newer`, async (t) => {
    for (const version of installed.get(name) ?? []) t.ok(atLeast(version, floor), `${version}: ${why}`)
    if (name !== 'liquidjs') t.ok(installed.has(name), 'it is still used: take the row out when it is not')
  })

t.test('a version is compared by its numbers, and one before a release is older than it', async (t) => {
  for (const version of ['1.2.3', '1.2.4', '1.10.0', '2.0.0']) t.ok(atLeast(version, '1.2.3'), version)
  for (const version of ['1.2.2', '1.1.9', '0.9.9', '1.2.3-beta.1']) t.notOk(atLeast(version, '1.2.3'), version)
})

t.test('every base image is named by its version and digest', async (t) => {
  const dockerfile = read('Dockerfile')
  const arg = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? ''
  const node = /nodeVersion: (\S+)/.exec(read('pnpm-workspace.yaml'))?.[1]
  t.match(arg, new RegExp(`^node:${node}-bookworm-slim@sha256:[0-9a-f]{64}$`), 'the Node that the tests ran on')
  t.strictSame(dockerfile.match(/^FROM (?!\$\{NODE_IMAGE\}).*/gm), ['FROM packages AS bundle', 'FROM scratch'])
  const files = ['compose.yaml']
  const images = files.flatMap((file) => [...read(file).matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image))
  t.strictSame(images.map((image) => image?.split(':')[0]).sort(), ['caddy', 'postgres', 'postrider'])
  for (const image of images)
    if (!image?.startsWith('postrider:')) t.match(image, /^(caddy|postgres):\d+\.\d+(\.\d+)?-\w+@sha256:[0-9a-f]{64}$/)
})

function section(name: string): string {
  return new RegExp(`^${name}:\\n([\\s\\S]*?)^\\S`, 'm').exec(lock)?.[1] ?? ''
}

function atLeast(version: string, floor: string): boolean {
  const numbers = (text: string): number[] => (text.split(/[-+]/)[0] ?? '').split('.').map(Number)
  const [own, least] = [numbers(version), numbers(floor)]
  const at = least.findIndex((number, place) => number !== own[place])
  return at === -1 ? !version.includes('-') : (own[at] as number) > (least[at] as number)
}
