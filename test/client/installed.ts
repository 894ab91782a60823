import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: [],
  },
  include: ['*.ts'],
}

export interface InstalledClient {
  /** The package's file. */
  readonly packed: string
  /** A program's folder in which the package is installed. */
  readonly folder: string
  /** Compiles the program, and returns the errors. */
  compiled(program: string): string
}

/** Packs the client, and installs it in an empty folder, as its users do. */
export function installClient(t: Test): InstalledClient {
  const own = mkdtempSync(join(tmpdir(), 'postrider-client-test-'))
  t.teardown(() => rmSync(own, { recursive: true, force: true }))
  const printed = execFileSync(process.execPath, ['deploy/client/pack.ts', own], { cwd: ROOT, encoding: 'utf8' })
  const packed = printed.trim().split('\n').at(-1) as string
  const folder = join(own, 'shop')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","type":"module"}')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', packed], { cwd: folder, stdio: 'pipe' })
  return {
    packed,
    folder,
    compiled(program) {
      writeFileSync(
        join(folder, 'program.ts'),
        `import { Postrider } from '@postrider/client'
const postrider = new Postrider({ baseUrl: 'https://mail.ship.example', apiKey: 'secret' })
${program}
export {}
`,
      )
      return spawnSync('tsc', ['-p', folder], { encoding: 'utf8' }).stdout
    },
  }
}
