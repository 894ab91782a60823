import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

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
