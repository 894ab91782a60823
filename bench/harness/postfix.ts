import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, pause, type Running, run, start } from './processes.ts'
import type { Roots } from './processor.ts'

/** A Postfix of the benchmark's own, with its own queue; needs root, as Postfix does. */
export interface Postfix {
  readonly port: number
  /** Its processes, OpenDKIM's among them. */
  readonly roots: Roots
  /** Messages in its hold queue. */
  held(): Promise<number>
  empty(): Promise<void>
  stop(): Promise<void>
}

export interface PostfixOptions {
  /** Where mail goes; without one every message is held: durable accept and nothing else. */
  readonly sinkPort?: number
  /** Sign with OpenDKIM (RSA-2048). */
  readonly signFor?: string
  /** More lines of main.cf. */
  readonly settings?: readonly string[]
}

const SERVICES = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
`

/** Throws an Error when Postfix is not installed, or this is not root. */
export async function startPostfix({ sinkPort, signFor, settings: own = [] }: PostfixOptions): Promise<Postfix> {
  if (process.getuid?.() !== 0) throw new Error('Postfix starts as root only')
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-postfix-'))
  chmodSync(folder, 0o755)
  const [config, queue, data] = ['etc', 'queue', 'data'].map((name) => join(folder, name)) as [string, string, string]
  for (const path of [config, queue, data]) mkdirSync(path)
  await run('chown', ['postfix', data])
  const port = await freePort()
  const dkim = signFor ? await startOpenDkim(folder, signFor) : undefined
  const settings = [
    'compatibility_level = 3.6',
    `queue_directory = ${queue}`,
    `data_directory = ${data}`,
    'myhostname = postfix.test',
    'mydestination =',
    'mynetworks = 127.0.0.0/8',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'alias_maps =',
    'biff = no',
    // Nothing that would slow it down for the sake of others: no flow control, no limits by client.
    'in_flow_delay = 0',
    'smtpd_client_connection_count_limit = 0',
    'smtpd_peername_lookup = no',
    'smtpd_relay_restrictions = permit_mynetworks, reject',
    ...(sinkPort
      ? [`relayhost = [127.0.0.1]:${sinkPort}`, 'smtp_connection_cache_on_demand = yes']
      : ['smtpd_client_restrictions = check_client_access static:HOLD']),
    ...(dkim ? [`smtpd_milters = inet:127.0.0.1:${dkim.port}`, 'milter_default_action = tempfail'] : []),
    ...own,
  ]
  writeFileSync(join(config, 'main.cf'), `${settings.join('\n')}\n`)
  writeFileSync(join(config, 'master.cf'), `127.0.0.1:${port} inet n - n - - smtpd${SERVICES}`)
  await run('postfix', ['-c', config, 'start']).catch((error: Error) => {
    // It complains about the system's own instance sharing its program files.
    if (!/is not owned|shared/.test(error.message)) throw error
  })
  await pause(1500)
  const master = Number.parseInt(readFileSync(join(queue, 'pid/master.pid'), 'utf8'), 10)
  return {
    port,
    roots: dkim ? [master, dkim.process.pid] : [master],
    async held() {
      const out = await run('find', [join(queue, 'hold'), '-type', 'f'])
      return out.split('\n').filter(Boolean).length
    },
    async empty() {
      await run('postsuper', ['-c', config, '-d', 'ALL'])
    },
    async stop() {
      await run('postfix', ['-c', config, 'abort']).catch(() => {})
      await dkim?.process.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startOpenDkim(folder: string, domain: string): Promise<{ port: number; process: Running }> {
  const port = await freePort()
  const keys = join(folder, 'dkim')
  mkdirSync(keys)
  await run('opendkim-genkey', ['-b', '2048', '-s', 'bench', '-d', domain, '-D', keys])
  const settings = [
    `Socket inet:${port}@127.0.0.1`,
    `Domain ${domain}`,
    'Selector bench',
    `KeyFile ${join(keys, 'bench.private')}`,
    'Canonicalization relaxed/relaxed',
    'Mode s',
    'Syslog no',
    'RequireSafeKeys no',
    'OversignHeaders From',
  ]
  writeFileSync(join(folder, 'opendkim.conf'), `${settings.join('\n')}\n`)
  const process_ = await start('opendkim', ['-f', '-x', join(folder, 'opendkim.conf')])
  return { port, process: process_ }
}
