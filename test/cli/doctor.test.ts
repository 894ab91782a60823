import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runCommand } from '../../packages/cli/src/command-line.ts'
import { demandOf } from '../../packages/cli/src/doctor/load-checks.ts'
import { makeWholeDatabase } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { examined, faultsOf, foundBy } from './doctor.ts'
import { answered, postrider } from './postrider.ts'

t.test('a service that runs', async (t) => {
  const service = await makeServiceOn(t, await makeWholeDatabase())
  const { env, core } = service
  const sender = await service.makeSender()
  await service.openApi()
  const programs = ['relay', 'returns', 'delivery', 'sandbox'] as const
  await Promise.all(programs.map((name) => startProcess(t, name, env)))

  await t.test('is healthy: every check is ok, and the exit status is 0', async (t) => {
    const diagnosis = await examined(env)
    t.strictSame(faultsOf(diagnosis), [])
    t.match(diagnosis, { status: 'ok', code: 0, stderr: '', notChecked: [] })
    t.ok(diagnosis.checks.length >= 30, `${diagnosis.checks.length} checks`)
    t.equal(new Set(diagnosis.checks.map(({ name }) => name)).size, diagnosis.checks.length, 'each name once')
    const page = readFileSync(fileURLToPath(new URL('../../docs/doctor.md', import.meta.url)), 'utf8')
    for (const { name, fix, status } of diagnosis.checks) {
      t.equal(fix === null, status === 'ok', name)
      t.ok(page.includes(`\`${name}\``), `docs/doctor.md has "${name}"`)
    }
    t.strictSame(diagnosis.counts, { ok: diagnosis.checks.length, warn: 0, bad: 0 })
  })

  await t.test('gets a message by each entry point, with the time of each stage, and keeps no key', async (t) => {
    const diagnosis = await examined(env, '--send', 'you@example.org', '--from', `hello@${sender.domain}`)
    t.equal(diagnosis.code, 0)
    for (const via of ['v2', 'v3', 'smtp']) {
      t.match(
        foundBy(diagnosis, `message by ${via}`),
        /^ok: accepted \d+ ms, claimed \d+ ms, delivered \d+ ms; it is in the sandbox inbox$/,
      )
      const { stages } = diagnosis.checks.find(({ name }) => name === `message by ${via}`) ?? {}
      t.match(stages, { accepted: Number, claimed: Number, delivered: Number })
      t.ok((stages?.claimed as number) <= (stages?.delivered as number), JSON.stringify(stages))
    }
    t.equal((await answered<unknown[]>(env, 'inbox', 'list')).length, 3)
    const keys = await core.auth.listKeys(sender.accountId)
    t.match(
      keys.find(({ name }) => name === 'postrider doctor'),
      { scopes: ['send'], revokedAt: Date },
    )
    t.equal(keys.filter(({ revokedAt }) => revokedAt === null).length, 1, 'that of the sender')
  })

  await t.test('whose recipient refuses has the reply and what to run, and the exit status is 1', async (t) => {
    const diagnosis = await examined({ ...env, POSTRIDER_API_KEY: sender.apiKey }, '--send', 'bounce@example.org')
    t.equal(diagnosis.code, 1)
    t.match(diagnosis.stderr, /3 of \d+ checks found a fault/)
    t.match(
      foundBy(diagnosis, 'message by v3'),
      /^bad: accepted .*, then bounced: .*550.*; fix: postrider message why [0-9a-f]{32}$/,
    )
    const made = (await core.auth.listKeys(sender.accountId)).filter(({ name }) => name === 'postrider doctor')
    t.equal(made.length, 1, 'none is made if one is given')
  })

  await t.test('prints a list that fits the terminal', async (t) => {
    let text = ''
    const stdout = {
      isTTY: true as const,
      columns: 70,
      write: (piece: string | Uint8Array) => Boolean((text += piece)),
    }
    const stderr = { isTTY: false as const, write: () => true }
    t.equal(await runCommand(['doctor'], { ...env, RELAY_PROT: '1' }, { stdout, stderr } as never), 0)
    const lines = text.split('\n')
    t.strictSame(
      lines.filter((line) => line.length > 70),
      [],
    )
    t.match(
      text,
      /^ {2}warn {2}setting names +these variables.*\n(?: {20,}.*\n)* +fix: rename RELAY_PROT to RELAY_PORT$/m,
    )
    t.match(text, /^database\n {2}ok {4}connection +a statement takes [\d.]+ ms$/m)
    t.match(text, /\n\n\d+ checks: \d+ ok, 1 warn, 0 bad\n$/)
  })
})

t.test('the connections that processes need are counted by program and host', async (t) => {
  const program = (name: string, address: string, sessions: number) => ({
    program: name,
    address,
    sessions,
    isHere: false,
  })
  const programs = [program('api', '10.0.0.1', 4), program('api', '10.0.0.2', 20), program('delivery', '10.0.0.3', 3)]
  // 14 of each of three API processes, 10 of each of two workers.
  t.strictSame(demandOf({ programs }, 2), { needed: 62, processes: 5, used: 27 })
})

t.test('calls that are wrong are named', async (t) => {
  const env = { DATA_DIR: '/nonexistent' }
  t.match(await postrider(env, 'doctor', '--send', 'nobody'), {
    code: 2,
    stderr: /--send must be an email address \(got "nobody"\)/,
  })
  t.match(await postrider(env, 'doctor', '--from', 'a@b.example'), { code: 2, stderr: /--from is only for --send/ })
  t.match(await postrider({ ...env, API_PORT: 'x' }, 'doctor'), { code: 78, stderr: /API_PORT/ })
})
