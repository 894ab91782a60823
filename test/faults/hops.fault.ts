import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startPostfix } from '../../bench/harness/postfix.ts'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { verdictOf } from '../delivery/tracked.ts'
import { signWithEd25519 } from '../helpers/ed25519.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSession, queueId } from '../relay/session.ts'
import { EXIM, startExim, transportTo } from './exim.ts'
import { oddMessages } from './odd-messages.ts'
import { realMails } from './real-mails.ts'

const ODD = Number(process.env.ODD ?? 500)

/** Debian's default: lines of at most 998 characters, also behind it (`message_linelength_limit`). */
const eximSettings = (sink: number): string => `
acl_smtp_rcpt = accept
acl_smtp_data = check_data
message_size_limit = 50M
begin acl
check_data:
  deny condition = \${if > {$max_received_linelength}{998}}
       message = maximum allowed line length is 998 octets, got $max_received_linelength
  accept
begin routers
all:
  driver = manualroute
  transport = to_sink
  route_list = * 127.0.0.1
  self = send
begin transports
${transportTo('to_sink', sink)}begin retry
* * F,1h,3s
`

/** Debian's, which has Debian's packages. */
const PYTHON = '/usr/bin/python3'
/** Other verifiers, with their results, and what fails where one is not installed. Mail::DKIM of Debian 12 knows RSA only. */
const VERIFIERS = [
  ['Mail::DKIM', 'perl', './mail-dkim.pl', /^rsa-sha256 pass, ed25519-sha256 (pass|invalid)$/, ['-MMail::DKIM', '-e1']],
  ['dkimpy', PYTHON, './dkimpy.py', /^rsa-sha256 pass, ed25519-sha256 pass$/, ['-c', 'import dkim, nacl']],
] as const

const works = (program: string, args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const missing = !existsSync('/usr/sbin/postfix')
  ? 'Postfix'
  : !existsSync(EXIM)
    ? `${EXIM}, or EXIM`
    : VERIFIERS.find(([, program, , , args]) => !works(program, args))?.[0]
const skip = missing !== undefined ? `it needs ${missing}` : process.getuid?.() === 0 ? false : 'it needs root'

t.test(
  'every message that was accepted passes a real Postfix and a real Exim, and both of its signatures with it',
  { timeout: 1_800_000, skip },
  async (t) => {
    const sink = await startSink(t)
    const exim = await startExim(eximSettings(sink.port))
    t.teardown(() => exim.stop())
    // Postfix completes addresses only for clients of its own host, as ours would not be.
    const postfix = await startPostfix({
      sinkPort: exim.port,
      settings: ['local_header_rewrite_clients =', 'queue_run_delay = 3s', 'minimal_backoff_time = 3s'],
    })
    t.teardown(() => postfix.stop())
    const { service, sender, inState, story } = await startOutboxProcess(t, {
      DELIVERY: `smtp://127.0.0.1:${postfix.port}`,
    })
    await signWithEd25519(service, sender)
    await service.openRelay()
    const desk = `desk@${sender.domain}`
    const corpus = realMails()
    const messages = [...corpus, ...oddMessages(ODD, sender.domain)]
    const accepted: string[] = []
    const refused = new Map<string, number>()
    const corrected = new Map<string, number>()
    const client = await openSession(t, service, sender)
    const count = (map: Map<string, number>, text: string): void => void map.set(text, (map.get(text) ?? 0) + 1)
    const folder = mkdtempSync(join(tmpdir(), 'postrider-hops-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    for (const [at, message] of messages.entries()) {
      const octets = Buffer.from(`X-Number: ${at}\r\nFrom: ${desk}\r\n${message}`, 'latin1')
      writeFileSync(join(folder, `${at}.sent`), octets)
      const reply = await client.submit(desk, 'lena@quay.example', octets)
      if (!reply.startsWith('250 ')) {
        count(refused, reply.replace(/\d+/g, '#'))
        continue
      }
      accepted.push(queueId(reply))
      for (const one of /\((.+)\)$/.exec(reply)?.[1]?.split('; ') ?? []) count(corrected, one.replace(/\d+/g, '#'))
    }
    t.comment(`figures: ${messages.length} messages, ${corpus.length} of strangers; ${accepted.length} accepted`)
    t.comment(`figures: refused ${JSON.stringify(Object.fromEntries(refused))}`)
    t.comment(`figures: corrected ${JSON.stringify(Object.fromEntries(corrected))}`)
    for (const id of accepted) await inState(id, 'delivered')
    await until('all mail at the sink', () => sink.messages.length >= accepted.length, 600_000).catch(() => undefined)
    t.equal(sink.messages.length, accepted.length, 'none was refused behind us')

    const failed: string[] = []
    const pairs: string[] = []
    for (const { data } of sink.messages) {
      const at = /^X-Number: (\d+)\r$/m.exec(data.toString('latin1'))?.[1]
      const file = join(folder, `${at}.arrived`)
      writeFileSync(file, data)
      pairs.push(join(folder, `${at}.sent`), file)
      const verdict = await verdictOf(sender, service, data)
      if (verdict.split(',').filter((one) => one === `pass ${sender.domain}`).length !== 2)
        failed.push(`${at}: ${verdict}`)
    }
    t.strictSame(failed, [], 'mailauth verifies every signature')
    const { dns } = await service.core.domains.show(sender.domain)
    const records = join(folder, 'records')
    const keys = dns.filter(({ purpose }) => purpose === 'dkim')
    writeFileSync(records, keys.map(({ host, value }) => `${host}\t${value}\n`).join(''))
    const linesOf = (program: string, script: string, args: readonly string[]): string[] =>
      execFileSync(program, [new URL(script, import.meta.url).pathname, ...args], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line !== '')
    const arrived = pairs.filter((name) => name.endsWith('.arrived'))
    for (const [name, program, script, result] of VERIFIERS) {
      const found = linesOf(program, script, [records, sender.domain, ...arrived])
      const wrong = found.filter((line) => !result.test(line.slice(line.indexOf(' ') + 1)))
      t.strictSame(wrong, [], `${name} verifies every signature`)
      t.equal(found.length, arrived.length)
    }
    t.strictSame(linesOf(PYTHON, './compare-mails.py', pairs), [], "Python's email reads the same in all of them")
    t.comment(`figures: ${sink.messages.length} messages arrived after two hops`)
    t.ok((await story(accepted[0] ?? '')).deliveries.length === 1)
  },
)
