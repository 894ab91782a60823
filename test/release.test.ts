import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8')

t.test('the version is the same wherever it is written', async (t) => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  t.match(version, /^\d+\.\d+\.\d+$/)
  for (const file of globSync('packages/*/package.json', { cwd: ROOT }))
    t.equal((JSON.parse(read(file)) as { version: string }).version, version, file)
  t.equal(/image: postrider:(\S+)/.exec(read('compose.yaml'))?.[1], version)
  t.equal(/newTag: (\S+)/.exec(read('deploy/kubernetes/overlays/example/kustomization.yaml'))?.[1], version)
})

t.test('the first section of the changelog is the version, or a later one that is not released', async (t) => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const [, released, next = ''] = /^## (?:(\d\S+)|Unreleased \((\d+\.\d+\.\d+)\))$/m.exec(read('CHANGELOG.md')) ?? []
  if (released !== undefined) return t.equal(released, version)
  t.equal(next.localeCompare(version, 'en', { numeric: true }), 1, `${next} is later than ${version}`)
})

t.test('the workflows call scripts that there are, and actions by their commit', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const files = globSync('.github/workflows/*.yml', { cwd: ROOT })
  t.ok(files.length >= 2)
  for (const file of files) {
    const { jobs } = parse(read(file)) as { jobs: Record<string, { steps: { run?: string; uses?: string }[] }> }
    for (const { run = '', uses } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      for (const [, script = ''] of run.matchAll(/npm run (?:-s )?([\w:]+)/g)) t.ok(scripts[script], `${file}: ${run}`)
      if (uses) t.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, file)
    }
  }
})
