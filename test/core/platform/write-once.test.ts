import fs, { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ensureCertificate, readConfig, writeOnce } from '@postrider/core'
import t from 'tap'
import { loadSecretKey } from '../../../packages/core/src/platform/security/secrets.ts'

const newFolder = (): string => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'once-'))

/** What `act` does to the disk, in order: which file or folder is synced, and which names are given. */
function watched(folder: string, act: () => void): string[] {
  const done: string[] = []
  const { fsyncSync, linkSync } = fs
  const name = (path: string): string => (relative(folder, path) || '.').replace(/\.\d+\.[0-9a-f]+$/, '.new')
  fs.fsyncSync = (descriptor) => {
    done.push(`sync ${name(fs.readlinkSync(`/proc/self/fd/${descriptor}`))}`)
    fsyncSync(descriptor)
  }
  fs.linkSync = (from, to) => {
    done.push(`link ${name(String(from))} ${name(String(to))}`)
    linkSync(from, to)
  }
  syncBuiltinESMExports()
  try {
    act()
  } finally {
    Object.assign(fs, { fsyncSync, linkSync })
    syncBuiltinESMExports()
  }
  return done
}

const skip = process.platform !== 'linux' && 'descriptors are looked up in /proc'

t.test('a file is synced before it has its name, and its name before anybody goes on', { skip }, async (t) => {
  const folder = newFolder()
  const done = watched(folder, () => t.equal(writeOnce(join(folder, 'a', 'b', 'key'), 'secret\n'), true))
  t.strictSame(done, ['sync a', 'sync .', 'sync a/b/key.new', 'link a/b/key.new a/b/key', 'sync a/b'])
  t.equal(readFileSync(join(folder, 'a', 'b', 'key'), 'utf8'), 'secret\n')
})

t.test('who comes second changes nothing, says so, and knows the first one durable', { skip }, async (t) => {
  const folder = newFolder()
  writeOnce(join(folder, 'key'), 'first')
  const done = watched(folder, () => t.equal(writeOnce(join(folder, 'key'), 'second'), false))
  t.equal(done.at(-1), 'sync .')
  t.equal(readFileSync(join(folder, 'key'), 'utf8'), 'first')
  t.strictSame(readdirSync(folder), ['key'])
})

t.test('the secret key is durable before it is used, whichever process made it', { skip }, async (t) => {
  const folder = newFolder()
  const made = watched(folder, () => void loadSecretKey(undefined, folder))
  t.strictSame(made.slice(0, 3), ['sync secret-key.new', 'link secret-key.new secret-key', 'sync .'])
  t.strictSame(
    watched(folder, () => void loadSecretKey(undefined, folder)),
    ['sync .'],
    'one that is there may have got its name this moment',
  )
})

t.test('a secret key that a power cut left empty is told, and no other is made or derived', async (t) => {
  const folder = newFolder()
  for (const left of ['', '\n']) {
    writeFileSync(join(folder, 'secret-key'), left)
    t.throws(() => loadSecretKey(undefined, folder), {
      name: 'ConfigError',
      message: /\/secret-key is empty: restore it from a backup, or set SECRET_KEY/,
    })
    t.equal(readFileSync(join(folder, 'secret-key'), 'utf8'), left)
  }
})

t.test('a certificate that a power cut left empty or half is told, with what to do', async (t) => {
  const folder = newFolder()
  const config = readConfig({ DATA_DIR: folder })
  const file = join(folder, 'certificate.json')
  for (const [left, said] of [
    ['', /\/certificate\.json is empty: delete it to have a new self-signed certificate created/],
    ['{"cert":"-----BEGIN', /\/certificate\.json is damaged: delete it/],
    ['{"cert":"x","key":"y"}', /\/certificate\.json is damaged: delete it/],
    ['null', /\/certificate\.json is damaged: delete it/],
  ] as const) {
    writeFileSync(file, left)
    await t.rejects(ensureCertificate(config), { name: 'ConfigError', message: said })
  }
  fs.rmSync(file)
  t.match((await ensureCertificate(config)).cert, /^-----BEGIN CERTIFICATE-----/)
})
