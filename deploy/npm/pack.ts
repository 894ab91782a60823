import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../../packages/launch/src/bundle.ts'
import { bundlePrograms } from '../../packages/launch/src/bundle-programs.ts'

/*
 * Makes the npm package: dist/postrider-VERSION.tgz, with the programs bundled, the files next to their sources where the bundle looks for them, and no
 * sources or tools. `node deploy/npm/pack.ts`; the last line printed is the path of the package.
 */

const DIST = join(ROOT, 'dist')
const FOLDER = join(DIST, 'package')
/** What a file of an installation is, besides the bundle. The guides are shown at /docs. */
const FILES = [
  'sql',
  'docs',
  'packages',
  'deploy/caddy',
  'deploy/nginx',
  'LICENSE',
  'SECURITY.md',
  'CHANGELOG.md',
  '.env.example',
]
const OMITTED = /\.ts$|^packages\/[a-z]+\/package\.json$|^docs\/pictures\//
/** What programBuild() reads. */
const VERSION_FILE = 'packages/core/package.json'

interface PackageFile {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (file: string): PackageFile => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as PackageFile
const whole = read('package.json')

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const { libraries } = await bundlePrograms({ folder: join(FOLDER, 'lib'), usedIn: join(ROOT, 'lib'), isAlone: true })
const files = execFileSync('git', ['ls-files', ...FILES], { cwd: ROOT, encoding: 'utf8' })
  .trim()
  .split('\n')
for (const file of files.filter((one) => !OMITTED.test(one))) copy(file, file)
write(VERSION_FILE, {
  version: whole.version,
  commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim(),
})
copy('deploy/npm/postrider.js', 'bin/postrider.js')
writeFileSync(join(FOLDER, 'README.md'), readmeOf(readFileSync(join(ROOT, 'README.md'), 'utf8')))
write('package.json', manifest())
execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', DIST], {
  cwd: FOLDER,
  stdio: ['ignore', 'ignore', 'inherit'],
})
rmSync(FOLDER, { recursive: true })
const packed = join(DIST, `postrider-${whole.version}.tgz`)
process.stdout.write(`${(statSync(packed).size / 1e6).toFixed(1)} MB\n${packed}\n`)

function copy(from: string, to: string): void {
  mkdirSync(dirname(join(FOLDER, to)), { recursive: true })
  cpSync(join(ROOT, from), join(FOLDER, to))
}

function write(to: string, content: unknown): void {
  mkdirSync(dirname(join(FOLDER, to)), { recursive: true })
  writeFileSync(join(FOLDER, to), `${JSON.stringify(content, null, 2)}\n`)
}

function manifest(): unknown {
  const { version, description, license } = whole
  return {
    name: 'postrider',
    version,
    description,
    license,
    type: 'module',
    bin: { postrider: 'bin/postrider.js' },
    engines: { node: '>=18' },
    dependencies: Object.fromEntries(libraries.map((name) => [name, versionOf(name)])),
    optionalDependencies: { ...whole.optionalDependencies, ...read('packages/cli/package.json').optionalDependencies },
  }
}

function versionOf(library: string): string {
  const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as {
    catalog: Record<string, string>
  }
  const version = catalog[library]
  if (version === undefined) throw new Error(`${library} is not in the catalog`)
  return version
}

/** The README of the repository, with the commands of an installation. */
function readmeOf(text: string): string {
  return text
    .replaceAll('npm run -s postrider --', 'npx postrider')
    .replace(
      /^npm start {3}#.*\nnpm test .*$/m,
      'npx postrider   # in an empty folder: installs, starts everything, prints the first steps',
    )
    .replaceAll('npm start', 'npx postrider')
    .replace(/^!\[.*\n\n/gm, '')
}
