import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { upSettings } from '../cli/postrider.ts'
import { until } from '../helpers/until.ts'
import { debianFile } from './installing/packages.ts'

const SUITES = (process.env.SUITES ?? 'bookworm,trixie').split(',')
const MIRROR = process.env.DEBIAN_MIRROR ?? 'http://deb.debian.org/debian'
const skip =
  process.getuid?.() !== 0
    ? 'it needs root'
    : existsSync('/usr/sbin/debootstrap') && existsSync('/usr/bin/dpkg-deb')
      ? false
      : 'it needs debootstrap and dpkg-deb'

for (const suite of SUITES) {
  t.test(
    `the package is installed, used, upgraded, removed and purged on a bare Debian ${suite}`,
    { timeout: 900_000, skip },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'postrider-chroot-'))
      // The user of the service goes through it.
      chmodSync(folder, 0o755)
      const mounts: string[] = []
      t.teardown(() => {
        for (const one of mounts) execFileSync('umount', [one])
        rmSync(folder, { recursive: true, force: true })
      })
      execFileSync('debootstrap', ['--variant=minbase', suite, folder, MIRROR], { stdio: 'ignore' })
      for (const name of ['proc', 'dev']) {
        execFileSync('mount', ['--bind', `/${name}`, join(folder, name)])
        mounts.push(join(folder, name))
      }
      mkdirSync(join(folder, 'tmp'), { recursive: true })
      writeFileSync(join(folder, 'tmp/postrider.deb'), readFileSync(debianFile()))
      const ports = await upSettings()
      const { DATA_DIR: _folder, ...env } = ports
      const run = (line: string, given: Record<string, string> = {}): string =>
        execFileSync('chroot', [folder, 'sh', '-c', line], {
          encoding: 'utf8',
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env, ...given },
        })

      t.match(run('dpkg -i /tmp/postrider.deb'), 'next, as root: postrider init')
      t.match(run('command -v node || echo none'), 'none', 'it brings its own Node')
      t.match(run('postrider init --company "My company" --domain ship.example'), /^account 1$/m)
      t.match(run('stat -c "%a %U" /etc/postrider/postrider.env /var/lib/postrider'), '600 postrider\n700 postrider\n')

      const up = spawn('chroot', [folder, 'postrider', 'up'], { env: { PATH: '/usr/sbin:/usr/bin', ...env } })
      let said = ''
      for (const stream of [up.stdout, up.stderr]) stream.on('data', (octets: Buffer) => (said += octets))
      await until('everything to run', () => said.includes('Running.') || (up.exitCode !== null && said), 60_000)
      t.equal((await fetch(`http://127.0.0.1:${env.API_PORT}/health/ready`)).status, 200)
      t.match(run('postrider account list'), 'My company')
      t.match(run('ps -o user= -C postgres 2> /dev/null | sort -u || true').trim(), /^(?:postrider)?$/)
      up.kill('SIGTERM')
      await until('its end', () => up.exitCode !== null || up.signalCode !== null, 60_000)

      t.equal(
        run('dpkg -i /tmp/postrider.deb').includes('postrider init'),
        false,
        'an upgrade does not ask for it again',
      )
      run('dpkg -r postrider')
      t.equal(existsSync(join(folder, 'etc/postrider/postrider.env')), true, 'settings and data stay')
      t.match(run('dpkg -P postrider'), '/var/lib/postrider with the database stays')
      t.equal(existsSync(join(folder, 'etc/postrider')), false)
      t.equal(existsSync(join(folder, 'var/lib/postrider/secret-key')), true)
    },
  )
}
