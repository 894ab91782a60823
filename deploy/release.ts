import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from '../packages/launch/src/bundle.ts'

/*
 * `npm run release`: makes in dist/ everything of a release but the image and the signatures (docs/releasing.md), of the commit that is checked out.
 * Refuses a tree with changes, and a changelog without the version.
 */

const DIST = join(ROOT, 'dist')
const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

const changed = run('git', ['status', '--porcelain'])
if (changed !== '') refuse(`there are changes that are not committed:\n${changed}`)
if (!readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}\n`))
  refuse(`CHANGELOG.md has no section "## ${version}"`)
rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST)

const files = [
  step('the npm package', packageFile),
  step('the npm package of the client', clientPackage),
  ...['amd64', 'arm64'].map((one) => step(`the Debian package for ${one}, in minutes`, () => debianPackage(one))),
  step('the source archive', sourceArchive),
  step('the bill of materials', billOfMaterials),
]
const sums = files.map(
  (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`,
)
writeFileSync(join(DIST, 'SHA256SUMS'), sums.join(''))
process.stdout.write(`${sums.join('')}next: npm run test:package, then sign SHA256SUMS (docs/releasing.md)\n`)

/** A line before, since most of it is silent, and one after with the time that it took. */
function step(what: string, make: () => string): string {
  process.stdout.write(`making ${what}\n`)
  const began = performance.now()
  const file = make()
  process.stdout.write(`  ${basename(file)} (${((performance.now() - began) / 1000).toFixed(0)} s)\n`)
  return file
}

function packageFile(): string {
  return run(process.execPath, ['deploy/npm/pack.ts']).split('\n').at(-1) as string
}

function clientPackage(): string {
  return run(process.execPath, ['deploy/client/pack.ts']).split('\n').at(-1) as string
}

/** Of the npm package, which must be there. */
function debianPackage(architecture: string): string {
  return run(process.execPath, ['deploy/debian/build.ts', architecture]).split('\n').at(-1) as string
}

function sourceArchive(): string {
  const file = join(DIST, `postrider-${version}-source.tar.gz`)
  run('git', ['archive', `--prefix=postrider-${version}/`, `--output=${file}`, 'HEAD'])
  return file
}

function billOfMaterials(): string {
  const file = join(DIST, 'sbom.json')
  run('npm', ['run', '-s', 'sbom'])
  renameSync(join(ROOT, 'sbom.json'), file)
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as { components: unknown[] }
  if (components.length === 0) refuse('sbom.json has no components')
  return file
}

function refuse(why: string): never {
  process.stderr.write(`release: ${why}\n`)
  process.exit(1)
}
