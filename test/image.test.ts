import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const dockerfile = readFileSync(`${ROOT}Dockerfile`, 'utf8')

t.test('the image installs what each package of the workspace depends on', async (t) => {
  const packages = globSync('packages/*/package.json', { cwd: ROOT })
  t.ok(packages.length > 8)
  const [, installs = ''] = dockerfile.split(/^FROM /m)
  const copied = [...installs.matchAll(/^COPY (packages\/\S+\/package\.json) (\S+)$/gm)]
  t.strictSame(copied.map(([, file]) => file).sort(), packages.sort(), 'one COPY line in the Dockerfile for each')
  for (const [, file = '', folder] of copied) t.equal(folder, `${dirname(file)}/`)
})

t.test('the pnpm of the image is that of the set-up', async (t) => {
  const pnpm = /pnpm@[\d.]+/
  t.equal(pnpm.exec(dockerfile)?.[0], pnpm.exec(readFileSync(`${ROOT}package.json`, 'utf8'))?.[0])
})
