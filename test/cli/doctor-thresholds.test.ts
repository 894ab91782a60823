import '../helpers/policy-port.ts'
import { X509Certificate } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { readConfig } from '@postrider/core'
import t from 'tap'
import { certificateChecks } from '../../packages/cli/src/doctor/certificate-checks.ts'
import { databaseChecks } from '../../packages/cli/src/doctor/database-checks.ts'
import { examine } from '../../packages/cli/src/doctor/examine.ts'
import { loadChecks } from '../../packages/cli/src/doctor/load-checks.ts'
import { networkChecks } from '../../packages/cli/src/doctor/network-checks.ts'
import { createReadings, type Readings } from '../../packages/cli/src/doctor/readings.ts'
import { replicationChecks } from '../../packages/cli/src/doctor/replication-checks.ts'
import { makeAuthority } from '../delivery/authority.ts'
import { startPolicyHost } from '../delivery/policy-host.ts'
import { startDns } from '../helpers/dns.ts'
import { freePorts } from '../helpers/ports.ts'
import { postrider } from './postrider.ts'

const MILLION = 1_000_000
const CHECKS = [...databaseChecks, ...loadChecks, ...replicationChecks, ...networkChecks, ...certificateChecks]
const bare = createReadings({ config: readConfig({}), env: {}, recipient: undefined, sql: undefined })

/** What a check says of a state that a test database cannot be brought into; no statement is run. */
async function evaluated(name: string, state: object): Promise<string> {
  const readings = { ...bare, sql: () => undefined, ...state } as unknown as Readings
  const { checks, notChecked } = await examine(
    CHECKS.filter((check) => check.name === name),
    readings,
  )
  const [check, unchecked] = [checks[0], notChecked[0]]
  return check
    ? `${check.status}: ${check.detail}${check.fix ? `; fix: ${check.fix}` : ''}`
    : `not checked: ${unchecked?.reason}`
}

t.test('long transactions and forgotten prepared ones are named with their session', async (t) => {
  const of = (seconds: number, prepared: object[] = []) =>
    evaluated('transactions', {
      activity: async () => ({ transactions: [{ pid: 99, seconds, program: 'psql', state: 'idle' }], prepared }),
    })
  t.match(await of(300), /^ok: the oldest has been open for 5 min$/)
  t.match(await of(301), /^warn: .*psql, idle.*; fix: end it: SELECT pg_terminate_backend\(99\)$/)
  t.match(await of(3600), /^warn: /)
  t.match(await of(3601), /^bad: /)
  t.match(await of(1, [{ name: 'gid', seconds: 301 }]), /^bad: a prepared transaction .*; fix: COMMIT PREPARED 'gid'/)
})

t.test('dead rows count from a hundred thousand on, where they are more than the live ones', async (t) => {
  const of = (dead: number, live = 10) =>
    evaluated('dead rows', { tables: async () => ({ dead: [{ table: 'delivery_queue', dead, live }] }) })
  t.match(await of(100_000), /^ok: /)
  t.match(await of(100_001), /^warn: .*delivery_queue \(100001\); fix: .*VACUUM \(ANALYZE\) delivery_queue$/)
  t.match(await of(900_000, 900_001), /^ok: /)
  t.match(await of(5 * MILLION + 1), /^bad: /)
})

t.test('transaction ids are evaluated by the older of both kinds', async (t) => {
  const of = (transactionAge: number, multixactAge = 0) =>
    evaluated('transaction ids', { server: async () => ({ transactionAge, multixactAge }) })
  t.match(await of(600 * MILLION), /^ok: the oldest transaction id is 600 million transactions old$/)
  t.match(await of(0, 601 * MILLION), /^warn: .*601 million.*; fix: .*VACUUM \(FREEZE\)/)
  t.match(await of(1501 * MILLION), /^bad: .*at 2,100 million the server accepts no writes/)
})

t.test('what the service needs of its database is evaluated, each need by its own check', async (t) => {
  const fit = {
    version: '18.4',
    versionNumber: 180_004,
    database: 'mail',
    role: 'postrider',
    encoding: 'UTF8',
    isReadOnly: false,
    isStandby: false,
    schema: 'public',
    mayCreate: true,
    otherOwner: null,
    wrong: [],
  }
  const of = (name: string, facts: object, more: object = {}) =>
    evaluated(name, {
      facts: async () => ({ ...fit, ...facts }),
      server: async () => ({ isStandby: false }),
      sql: () => ({ options: { host: ['db'] } }),
      ...more,
    })
  t.equal(await of('version', {}), 'ok: Postgres 18.4')
  t.match(await of('version', { versionNumber: 150_000 }), /^ok: /)
  t.match(
    await of('version', { version: '14.23', versionNumber: 140_023 }),
    /^bad: Postgres 14\.23 is older than 15.*; fix: .*pg_upgrade$/,
  )
  t.equal(await of('encoding', {}), 'ok: UTF8')
  t.match(
    await of('encoding', { encoding: 'LATIN1' }),
    /^bad: .*LATIN1.*; fix: CREATE DATABASE mail_utf8 ENCODING 'UTF8'/,
  )
  t.match(await of('settings', {}), /^ok: /)
  const wrong = [{ name: 'bytea_output', value: 'escape' }]
  t.match(
    await of('settings', { wrong }),
    /^bad: .*bytea_output = escape.*; fix: ALTER ROLE postrider SET bytea_output = 'hex'/,
  )
  t.match(await of('primary', {}), /^ok: this server accepts writes$/)
  t.match(
    await of('primary', { isReadOnly: true }),
    /^bad: .*read-only.*; fix: .*ALTER DATABASE mail RESET default_transaction_read_only/,
  )
  t.match(await of('rights', {}), /^ok: postrider may create tables in the schema public$/)
  t.match(
    await of('rights', { mayCreate: false }),
    /^bad: .*; fix: .*GRANT CREATE, USAGE ON SCHEMA public TO postrider$/,
  )
  t.match(await of('rights', { mayCreate: false, role: 'mail-app' }), /TO "mail-app"$/)
  t.match(await of('rights', { schema: null }), /^bad: search_path names no schema that exists/)
  t.match(
    await of('rights', { otherOwner: 'dba' }),
    /^bad: the tables belong to dba, .*; fix: GRANT dba TO postrider; ALTER ROLE postrider SET role = 'dba'/,
  )
  const manual = { config: readConfig({ MIGRATE: 'manual' }) }
  t.match(await of('rights', { mayCreate: false }, manual), /^warn: .*processes create a partition per week/)
})

t.test('slots without a reader, and standbys that are far behind', async (t) => {
  const GB = 2 ** 30
  const slots = (retained: number, isActive = false, walStatus = 'extended') =>
    evaluated('replication slots', {
      replication: async () => ({ slots: [{ name: 'old', isActive, retained, walStatus }], standbys: [] }),
    })
  t.match(await slots(GB), /^ok: /)
  t.match(
    await slots(GB + 1),
    /^warn: without a reader: old \(keeps 1\.0 GB of WAL\); fix: .*pg_drop_replication_slot\('old'\)$/,
  )
  t.match(await slots(17 * GB), /^bad: /)
  t.match(await slots(17 * GB, true), /^ok: /, 'it has a reader')
  t.match(await slots(0, false, 'lost'), /^bad: /)
  const lag = (behind: number, lag: number, state = 'streaming') =>
    evaluated('replication lag', {
      replication: async () => ({ slots: [], standbys: [{ name: 's1', behind, lag, state, sync: 'async' }] }),
    })
  t.match(await lag(64 * 2 ** 20, 30), /^ok: /)
  t.match(await lag(65 * 2 ** 20, 0), /^warn: .*lacks 65 MB/)
  t.match(await lag(0, 31), /^warn: /)
  t.match(await lag(0, 0, 'catchup'), /^warn: .*not streaming: s1 \(catchup\)/)
  t.match(await lag(GB + 1, 0), /^bad: /)
  t.match(await lag(0, 601), /^bad: /)
})

t.test('free connections and waiting locks', async (t) => {
  const connections = (connections: number) =>
    evaluated('connections', {
      server: async () => ({ connections, maxConnections: 100, reservedConnections: 3 }),
      activity: async () => ({ programs: [] }),
      workers: async () => [],
    })
  t.match(await connections(93), /^ok: 93 of 97 are in use/)
  t.match(await connections(94), /^bad: .*; fix: set max_connections to at least 130/)
  const locks = (blocked: number) => evaluated('locks', { activity: async () => ({ blocked }) })
  t.match(await locks(0), /^ok: /)
  t.match(await locks(2), /^warn: 2 sessions waited/)
})

/** The certificate with an end in the thirteenth month of a year. */
function withoutMonth(cert: string): string {
  const octets = Buffer.from(new X509Certificate(cert).raw)
  // RFC 5280 4.1.2.5.1: UTCTime of 13 characters, the end after the beginning.
  const isTime = Buffer.from([0x17, 13])
  octets.write('9913', octets.indexOf(isTime, octets.indexOf(isTime) + 2) + 2)
  return `-----BEGIN CERTIFICATE-----\n${octets.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

t.test(
  'a certificate is renewed in time: from 21 days on it is a warning, from 3 it is bad, and sooner for short ones',
  async (t) => {
    const authority = await makeAuthority()
    const days = async (count: number, of = 90, change = (cert: string) => cert) => {
      const { cert, key } = await authority.issue(['localhost'], { days: count, of })
      const server = createServer({ key, cert: change(cert) })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const publicUrl = `https://localhost:${(server.address() as AddressInfo).port}`
      const found = await evaluated('certificate of the public URL', { config: { ...bare.config, publicUrl } })
      server.close()
      return found
    }
    const trusted = getCACertificates()
    setDefaultCACertificates([...trusted, authority.cert])
    t.teardown(() => setDefaultCACertificates(trusted))
    t.match(await days(30), /^ok: valid for \d+ days$/)
    t.match(await days(20), /^warn: valid for \d+ days; fix: renew the certificate of localhost/)
    t.match(await days(2.5), /^bad: valid for \d days/)
    t.match(await days(3, 6), /^ok: valid for \d days/)
    t.match(await days(1.2, 6), /^warn: valid for \d+ h; fix: /)
    t.match(await days(0.4, 6), /^bad: valid for \d+ h; fix: /)
    t.match(await days(30, 90, withoutMonth), /^bad: its times are not valid, so clients refuse it; fix: renew/)
  },
)

t.test('the MTA-STS policies of the own domains list their mail hosts', async (t) => {
  const authority = await makeAuthority()
  const trusted = getCACertificates()
  setDefaultCACertificates([...trusted, authority.cert])
  t.teardown(() => setDefaultCACertificates(trusted))
  const dns = await startDns(t, {
    'bounce.service.example': { mx: [[10, 'mail.service.example']] },
    'service.example': { mx: [[10, 'mx.elsewhere.example']] },
  })
  const [port = 0] = await freePorts(1)
  process.env.POLICY_PORT = String(port)
  const config = readConfig({
    DELIVERY: 'mx',
    DNS_SERVERS: dns.address,
    MX_PRIVATE_NETWORKS: 'allow',
    RETURN_PATH_HOST: 'bounce.service.example',
    SERVICE_DOMAIN: 'service.example',
    OPERATOR_MAIL: 'op@example.org',
  })
  const found = () => evaluated('MTA-STS', { config })
  t.equal(await found(), 'ok: no policy for bounce.service.example, service.example')
  const options = { dns, authority, address: '127.9.0.1', port }
  const policy = { mode: 'enforce', mx: ['mail.service.example'] }
  const host = await startPolicyHost(t, 'bounce.service.example', { ...options, policy })
  t.equal(await found(), 'ok: the policies list the mail hosts: bounce.service.example (enforce)')
  dns.zones['bounce.service.example'] = {
    mx: [
      [10, 'mail.service.example'],
      [20, 'backup.service.example'],
    ],
  }
  t.match(
    await found(),
    /^bad: the policy of bounce\.service\.example does not list its mail host backup\.service\.example; senders .*; fix: .*id in TXT _mta-sts\.bounce/,
  )
  dns.zones['bounce.service.example'] = { mx: [[0, '.']] }
  t.equal(await found(), 'ok: the policies list the mail hosts: bounce.service.example (enforce)', 'no mail host')
  dns.zones['bounce.service.example'] = { mx: [[10, 'backup.service.example']] }
  host.publish({ id: '2', mode: 'testing' })
  t.match(await found(), /^warn: the policy of bounce\.service\.example does not list/)
  await host.close()
  t.match(await found(), /^warn: the policy of bounce\.service\.example: could not fetch the policy/)
})

t.test('doctor names a misspelt setting once, and other commands at their start', async (t) => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', RELAY_PROT: '2525' }
  const { stdout, stderr } = await postrider(env, 'doctor')
  t.match(stdout, /RELAY_PROT/)
  t.notMatch(stderr, 'RELAY_PROT')
  t.match((await postrider(env, 'account', 'list')).stderr, 'RELAY_PROT')
})

t.test('many checks without a response are one finding, and a few are each one', async (t) => {
  const silent = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      area: 'database' as const,
      name: `check ${at}`,
      limitMs: 1,
      run: () => new Promise<never>(() => {}),
    }))
  const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  const more = { area: 'mail' as const, name: 'cancelled', run: () => Promise.reject(cancelled) }
  const many = await examine([...silent(2), more], bare)
  t.match(many.checks, [{ name: 'overload', status: 'bad', detail: /is overloaded: 3 checks had no response in 10 s/ }])
  t.equal(many.checks.length, 1)
  t.strictSame(
    many.notChecked.map(({ name }) => name),
    ['check 0', 'check 1', 'cancelled'],
  )
  const few = await examine(silent(2), bare)
  t.match(few, {
    checks: [
      { name: 'check 0', status: 'bad' },
      { name: 'check 1', status: 'bad' },
    ],
    notChecked: [],
  })
})
