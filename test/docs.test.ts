import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ERRORS, type ErrorRow, readConfig, SETTINGS } from '@postrider/core'
import t from 'tap'
import { ENV_EXAMPLE, envExample } from './helpers/env-example.ts'
import { ERRORS_PAGE, errorsPage } from './helpers/errors-page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

t.test('docs/errors.md is what the table of errors says', async (t) => {
  t.equal(read(ERRORS_PAGE), errorsPage(), 'run npm run docs')
})

t.test('docs/errors.md has every error in one row, with all its codes', async (t) => {
  const lines = read(ERRORS_PAGE).split('\n')
  for (const [name, { v2, group, status, smtp, sentence }] of Object.entries<ErrorRow>(ERRORS)) {
    const rows = lines.filter((line) => line.startsWith(`| ${name} |`))
    t.equal(rows.length, 1, name)
    t.ok(
      rows[0]?.startsWith(`| ${name} | ${v2} | ${group} | ${status} | ${smtp.code} ${smtp.enhanced} | ${sentence}`),
      name,
    )
  }
})

t.test('.env.example is what the list of settings says', async (t) => {
  t.equal(read(ENV_EXAMPLE), envExample(), 'run npm run docs')
})

t.test('.env.example with every comment mark taken off is a valid environment, equal to an empty one', async (t) => {
  const env: Record<string, string> = {}
  for (const line of read(ENV_EXAMPLE).split('\n')) {
    const setting = /^#([A-Z0-9_]+)=(.*)$/.exec(line)
    if (setting) env[setting[1] as string] = (setting[2] as string).replace('API_PORT', '8080')
  }
  t.strictSame(
    Object.keys(env),
    SETTINGS.map(({ name }) => name),
  )
  t.strictSame(readConfig(env), readConfig({}))
})

t.test('the list of settings names every setting that is read, and no other', async (t) => {
  const source = globSync('packages/core/src/platform/{config,config/*}.ts', { cwd: ROOT })
    .map((file) => read(join(ROOT, file)))
    .join()
  const named = [...source.matchAll(/\benv\.([A-Z0-9_]+)\b|\(env, '([A-Z0-9_]+)'/g)].map(
    (found) => found[1] ?? found[2],
  )
  // NODE_ENV is everybody's: it only shifts a default, which the list says.
  const wanted = new Set(named.filter((name) => name !== 'NODE_ENV'))
  t.strictSame(new Set(SETTINGS.map(({ name }) => name)), wanted)
})

t.test('every test and source file that the documents name is there', async (t) => {
  for (const page of globSync(['*.md', 'docs/**/*.md', 'sql/*.md', 'packages/*/README.md'], { cwd: ROOT })) {
    for (const [, path] of read(join(ROOT, page)).matchAll(/`((?:test|packages|sql|bench|docs)\/[\w./-]+\.\w+)`/g)) {
      t.ok(existsSync(join(ROOT, path as string)), `${page}: ${path}`)
    }
  }
})

t.test(
  'no line of the documents has more than 160 characters, except in tables, URLs and blocks of output',
  async (t) => {
    for (const page of globSync(['*.md', 'docs/**/*.md', 'sql/*.md', 'packages/*/README.md'], { cwd: ROOT })) {
      const text = read(join(ROOT, page)).replace(/^ *```(\w*)\n.*?^ *```$/gms, (block, language) =>
        language === 'sh' ? block : block.replace(/[^\n]+/g, ''),
      )
      for (const [at, line] of text.split('\n').entries()) {
        const isLong = line.length > 160 && !/^ *\|/.test(line) && !/\S{160}/.test(line)
        if (isLong) t.fail(`${page}:${at + 1}: ${line.length} characters: ${line.slice(0, 60)}`)
      }
    }
  },
)

t.test('CONTRIBUTING has a row for every longer run, and for no other', async (t) => {
  const { scripts } = JSON.parse(read(join(ROOT, 'package.json'))) as { scripts: Record<string, string> }
  const rows = [...read(join(ROOT, 'CONTRIBUTING.md')).matchAll(/^\| `(test:\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(
    rows.sort(),
    Object.keys(scripts)
      .filter((name) => name.startsWith('test:'))
      .sort(),
  )
})

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
