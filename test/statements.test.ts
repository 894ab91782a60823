import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

t.test('no statement returns what rows were by `old` or `new`, which only Postgres 18 knows', async (t) => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT })
  t.ok(files.length > 500, 'the files are found')
  const returning = files.filter((file) => {
    const text = readFileSync(ROOT + file, 'utf8')
    // A subquery may have the name.
    return /\breturning\b[^`;]*?\b(?:old|new)\.[a-z_]/i.test(text) && !/\) (?:old|new)\b/.test(text)
  })
  t.strictSame(returning, [])
})
