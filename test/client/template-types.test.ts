import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Postrider } from '../../packages/client/src/index.ts'
import { readTemplates, type TypedTemplate, typesOf } from '../../packages/client/src/template-types.ts'
import { makeService } from '../helpers/service.ts'
import { installClient } from './installed.ts'

const FILE = 'postrider-templates.ts'
const client = installClient(t)
const shop = client.folder

/** The program as npx runs it. */
function run(env: object, ...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const file = join(shop, 'node_modules/.bin/postrider-types')
  return new Promise((resolve) => {
    execFile(file, args, { cwd: shop, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

function compiled(mail: string): string {
  return client.compiled(`
import { templates } from './postrider-templates.js'
const [from, to] = ['desk@ship.example', 'lena@harbor.example']
await postrider.messages.send({ from, ${mail} })`)
}

const VARIABLES = [
  { name: 'NAME', default: 'sailor' },
  { name: 'BERTH', type: 'number', required: true },
  { name: 'UNTIL', type: 'date' },
] as const

t.test('a mail that lacks what its template needs does not compile, and a change of a template is seen', async (t) => {
  const service = await makeService(t)
  const { apiKey } = await service.makeSender()
  const url = await service.openApi()
  const { templates } = new Postrider({ baseUrl: url, apiKey })
  const ready = {
    templateName: 'Berth ready',
    subject: 'Berth [%BERTH%]',
    content: '<p>[%name%], until [%UNTIL%], [%ship.name%] <a href="[%unsubscribe_url%]">no more</a></p>',
    variables: VARIABLES,
  }
  const { templateId } = await templates.create(ready)
  await templates.create({ templateName: 'hello', content: '<p>Hello</p>' })
  const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: apiKey }

  t.strictSame(await run(env, '--out', FILE), { status: 0, stdout: `${FILE}: 2 templates\n`, stderr: '' })
  t.match(await run(env, '--out', FILE), { status: 0, stdout: `${FILE}: 2 templates, unchanged\n` })
  t.match(await run(env, '--out', FILE, '--check'), { status: 0, stdout: '' })

  const send = (attributes: string) => `templateId: templates['Berth ready'], to: { to, attributes: ${attributes} }`
  t.equal(compiled(send(`{ BERTH: 4, 'ship.name': 'Ann' }`)), '')
  t.equal(compiled(send(`{ BERTH: '4', 'ship.name': 'Ann', NAME: 'Lena', UNTIL: '2026-01-05' }`)), '')
  t.equal(compiled(`templateId: templates['Berth ready'], to: [{ to, attributes: { BERTH: 4, 'ship.name': 1 } }]`), '')
  t.match(compiled(send(`{ BERTH: 4 }`)), /''ship.name'' is missing/)
  t.match(compiled(send(`{ 'ship.name': 'Ann' }`)), /'BERTH' is missing/)
  t.match(compiled(send(`{ BERTH: 'four', 'ship.name': 'Ann' }`)), /'"four"' is not assignable/)
  t.match(compiled(send(`{ BERTH: 4, 'ship.name': 'Ann', NAM: 'Lena' }`)), /'NAM' does not exist/)
  t.match(compiled(`templateId: templates['Berth ready'], to`), /not assignable/)
  t.match(compiled(`templateId: templates['Berth ready'], to: [to]`), /not assignable/)
  t.equal(compiled(`templateId: templates.hello, to`), '')
  t.equal(compiled(`templateId: 4711 as number, to: { to, attributes: { anything: 1 } }`), '')
  t.equal(compiled(`to: [to, { to, attributes: { anything: 1 } }], text: '[%anything%]'`), '')

  const before = readFileSync(join(shop, FILE), 'utf8')
  await templates.edit({ templateId, content: '<p>[%name%], until [%UNTIL%], at [%PIER%]</p>' })
  const differing = await run(env, '--out', FILE, '--check')
  t.match(differing, { status: 1, stderr: `${FILE} differs from the templates.` })
  t.strictSame(differing.stdout.trim().split('\n'), [
    `template ${templateId}`,
    `  - readonly 'ship.name': string | number | boolean`,
    '  + readonly PIER: string | number | boolean',
  ])
  t.equal(readFileSync(join(shop, FILE), 'utf8'), before)
  t.match(await run(env, '--out', FILE), { status: 0 })
  t.match(compiled(send(`{ BERTH: 4 }`)), /'PIER' is missing/)
})

t.test('a template with an odd name has its id, and one that is deleted while they are read is left out', async (t) => {
  const service = await makeService(t)
  const { apiKey } = await service.makeSender()
  const url = await service.openApi()
  const { templates } = new Postrider({ baseUrl: url, apiKey })
  const content = '<p>[%__proto__%] [%constructor%] [%-%]</p>'
  const ids: Record<string, number> = Object.create(null)
  for (const templateName of ['gone', '__proto__', 'constructor', 'class', '12', '-', 'a b'])
    ids[templateName] = (await templates.create({ templateName, content })).templateId
  const afterListing = async (...given: Parameters<typeof fetch>) => {
    const response = await fetch(...given)
    if (!`${given[0]}`.endsWith('/view') && ids.gone) await templates.delete({ templateId: ids.gone })
    ids.gone = 0
    return response
  }
  const read: TypedTemplate[] = []
  for await (const one of readTemplates(new Postrider({ baseUrl: url, apiKey, fetch: afterListing }).templates))
    read.push(one)
  t.strictSame(
    read.map(({ name }) => name),
    ['__proto__', 'constructor', 'class', '12', '-', 'a b'],
  )
  // The types of another installation, whose ids are the same, are no part of this program.
  rmSync(join(shop, FILE), { force: true })
  const file = join(shop, 'odd-names.ts')
  writeFileSync(file, typesOf(read))
  const { templates: written } = (await import(file)) as { templates: Record<string, number> }
  for (const { id, name } of read) t.equal(Object.getOwnPropertyDescriptor(written, name)?.value, id, name)
  const attributes = `{ ['__proto__']: 1, constructor: 2, '-': 3 }`
  t.equal(
    client.compiled(`
import { templates } from './odd-names.js'
await postrider.messages.send({ from: 'a@ship.example', templateId: templates['__proto__'], to: { to: 'b@harbor.example', attributes: ${attributes} } })`),
    '',
  )
})

t.test('what cannot be done is told, and writes nothing', async (t) => {
  const service = await makeService(t)
  const { apiKey } = await service.makeSender()
  const env = { POSTRIDER_URL: await service.openApi(), POSTRIDER_API_KEY: apiKey }
  t.match(await run({ ...env, POSTRIDER_API_KEY: '' }), { status: 2, stderr: 'POSTRIDER_API_KEY is missing' })
  t.match(await run(env, '--chekc'), { status: 2, stderr: /--chekc.*See postrider-types --help/ })
  t.match(await run({}, '--help'), { status: 0, stdout: /^Usage: postrider-types/ })
  const wrong = await run({ ...env, POSTRIDER_API_KEY: 'wrong' }, '--out', 'other.ts')
  t.match(wrong, { status: 1, stdout: '', stderr: /^postrider-types: .*api_key/i })
  t.match(await run(env, '--out', 'other.ts', '--check'), { status: 1, stdout: 'other.ts does not exist' })
  t.throws(() => readFileSync(join(shop, 'other.ts')))
})
