import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canConnect, freePort, ROOT, run, start, until } from './processes.ts'
import type { Roots } from './processor.ts'

/** Where `npm run bench:peers` puts it; HARAKA names another folder. */
const FOLDER = process.env.HARAKA ?? join(ROOT, 'bench/peers')

export interface Haraka {
  readonly port: number
  readonly roots: Roots
  stop(): Promise<void>
}

/** Haraka that queues to disk, signs with RSA-2048 and sends all mail to the sink. Throws an Error where it is not installed. */
export async function startHaraka(sinkPort: number, domain: string): Promise<Haraka> {
  const program = join(FOLDER, 'node_modules/Haraka/bin/haraka')
  if (!existsSync(program)) {
    throw new Error('Haraka is not installed: npm run bench:peers')
  }
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-haraka-'))
  const port = await freePort()
  const keys = join(folder, 'config/dkim', domain)
  mkdirSync(keys, { recursive: true })
  mkdirSync(join(folder, 'queue'))
  await run('openssl', ['genrsa', '-traditional', '-out', join(keys, 'private'), '2048'])
  const files: Readonly<Record<string, string>> = {
    plugins: 'dkim\nbench',
    me: 'haraka.test',
    'smtp.ini': `listen=127.0.0.1:${port}\nnodes=0`,
    'outbound.ini': 'concurrency_max=100\nenable_tls=false\nlocal_mx_ok=true\n[pool]\nconcurrency_max=50',
    'dkim.ini': '[sign]\nenabled=true\n[canon]\nbody=relaxed\n[verify]\nenabled=false',
    'log.ini': '[main]\nlevel=error',
    [`dkim/${domain}/selector`]: 'bench',
  }
  cpSync(join(FOLDER, 'node_modules/Haraka/config/connection.ini'), join(folder, 'config/connection.ini'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'config', name), `${text}\n`)
  mkdirSync(join(folder, 'plugins'))
  // The least that makes it a relay: clients may send, all mail goes to one host.
  writeFileSync(
    join(folder, 'plugins/bench.js'),
    `exports.hook_rcpt = (next, connection) => { connection.relaying = true; next(OK) }
exports.hook_mail = (next, connection) => { connection.relaying = true; next() }
exports.hook_get_mx = (next) => next(OK, { priority: 0, exchange: '127.0.0.1', port: ${sinkPort} })
`,
  )
  const haraka = await start(process.execPath, [program, '-c', folder])
  await until('Haraka', () => canConnect('127.0.0.1', port), { seconds: 15, every: 200 })
  return {
    port,
    roots: [haraka.pid],
    async stop() {
      await haraka.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
