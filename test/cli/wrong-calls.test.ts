import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { makeService } from '../helpers/service.ts'
import { postrider, postriderProcess } from './postrider.ts'

// Nobody listens on port 1; another test's process might on a port that was free a moment ago.
const { env, ...service } = await makeService(t, { API_PORT: '1', RELAY_PORT: '1', SANDBOX_HTTP_PORT: '1' })
const sender = await service.makeSender()
const account = String(sender.accountId)
const folder = mkdtempSync(join(service.config.dataDir, 'files-'))
const files = { template: join(folder, 'welcome.html'), octets: join(folder, 'octets'), nul: join(folder, 'nul') }
writeFileSync(files.template, '<p>Welcome</p>')
writeFileSync(files.octets, Buffer.from([0xff, 0xfe]))
writeFileSync(files.nul, 'a\0b')

/** What a caller may do wrong: the words, the exit status, and what the error must say: the parameter, and what to do. */
const WRONG: readonly (readonly [line: string, status: number, said: RegExp])[] = [
  ['acount list', 2, /unknown command "acount" \(did you mean account\?\); "postrider --help" lists the commands\n$/],
  ['account lst', 2, /unknown command "lst" \(did you mean list\?\); "postrider account --help" lists the commands/],
  ['pool rule', 2, /missing command after "pool rule"; "postrider pool rule --help" lists the commands/],
  ['account list --bogus', 2, /unknown option "--bogus"\nusage: postrider account list$/m],
  ['queue fail --limit 5', 2, /unknown option "--limit"\nusage: postrider queue fail/],
  ['queue --limit 5 show gmail', 2, /options must follow the name of the command; "postrider --help" lists/],
  ['account create --nam x', 2, /unknown option "--nam" \(did you mean --name\?\)\nusage: postrider account create/],
  ['account create --name --yes', 2, /"--name" argument missing; one that begins with "-" is given as --name=--yes/],
  ['queue shwo', 2, /unexpected argument "shwo" \(did you mean "queue show"\?\)\nusage: postrider queue \[/],
  ['account list extra', 2, /unexpected argument "extra"\nusage: postrider account list$/m],
  ['account create', 2, /missing option --name\nusage: postrider account create --name NAME/],
  ['account create --name', 2, /--name.*argument missing\nusage/],
  [`account create --name ${sender.accountName}`, 1, /--name: is already used by another account/],
  [`account create --name ${'n'.repeat(101)}`, 1, /--name: .*1 to 100 characters/],
  ['account suspend', 2, /missing argument: account id\nusage: postrider account suspend ID/],
  ['account suspend twelve', 2, /account id must be a number \(got "twelve"\)/],
  ['account suspend 1 --account 2', 2, /account given both as argument and as --account/],
  ['account suspend 999999', 1, /^postrider: account: /],
  ['account resume 9999999999', 2, /must be a number/],
  [`account expire ${account} --at tomorrow`, 2, /--at must be an ISO 8601 time like .* \(got "tomorrow"\)/],
  [`account expire ${account} --at 2026-13-40`, 2, /--at must be an ISO 8601 time/],
  [`account expire ${account} --at 2030-02-31`, 2, /--at must be an ISO 8601 time/],
  ['dmarc show', 2, /missing argument: domain\nusage: postrider dmarc show DOMAIN/],
  ['dmarc show ship.example --days 0', 2, /--days must be from 1 to 90 \(got 0\)/],
  ['dmarc show ship.example --days two', 2, /--days must be a number \(got "two"\)/],
  ['dmarc show ship.example --account x', 2, /--account must be a number/],
  ['dmarc list --limit 0', 2, /--limit must be from 1 to 1000/],
  ['tls-reports --days 91', 2, /--days must be from 1 to 90/],
  ['key create', 2, /missing option --account\nusage: postrider key create --account ID/],
  ['key create --account 999999', 1, /--account: /],
  [`key create --account ${account} --until tomorrow`, 2, /--until must be an ISO 8601 time/],
  [`key create --account ${account} --template five`, 1, /--template: /],
  ['key update 1', 2, /no changes given/],
  ['key update 1 --lift everything', 2, /--lift must be one of ip, template/],
  ['key rotate 999999', 1, /Invalid key id/],
  ['key rotate 1 --overlap-hours 721', 1, /--overlap-hours: /],
  [`account limit ${account} --sends many`, 2, /--sends must be a number/],
  ['account limit 999999 --sends 5', 1, /^postrider: account: /],
  [
    `key create --account ${account} --ip 10.0.0.0/33`,
    1,
    /--ip: .*"10.0.0.0\/33" is not a valid IP address or network/,
  ],
  [`key create --account ${account} --scope everything`, 1, /--scope: .*all, send[^;]*$/],
  [`key create --account ${account} --scope mail.send`, 1, /--scope: may contain only all, send.*SendGrid/s],
  ['key list', 2, /missing option --account/],
  ['key list --account 999999', 1, /account 999999 not found; "account list" lists all accounts/],
  ['domain list --account 999999', 1, /account 999999 not found; "account list" lists all accounts/],
  ['audit list --account 999999', 1, /account 999999 not found; "account list" lists all accounts/],
  ['key revoke 999999 --yes', 1, /Invalid key id/],
  ['domain add example.com', 2, /missing option --account\nusage: postrider domain add --account ID DOMAIN/],
  [`domain add --account ${account}`, 2, /missing argument: domain\nusage/],
  [`domain add --account ${account} a..b`, 1, /"a..b" is not a valid domain name such as example.com/],
  [`domain add --account ${account} one.example two.example`, 2, /unexpected argument "two.example"/],
  [`domain add --account ${account} ${sender.domain}`, 1, /"ship\d+.example" already exists/],
  ['domain add --account 999999 nobodys.example', 1, /--account: /],
  ['domain activate nobodys.example', 1, /domain "nobodys.example" not found; "domain list" lists/],
  ['domain dns nobodys.example', 1, /domain "nobodys.example" not found; "domain list" lists/],
  [`template create --account ${account} --name x`, 2, /missing option --file/],
  [`template create --account ${account} --name x --file ${folder}/none`, 1, /--file .*\/none cannot be read: ENOENT/],
  [`template create --account ${account} --name x --file ${folder}`, 1, /--file .* cannot be read: EISDIR/],
  [`template create --account ${account} --name x --file ${files.octets}`, 1, /--file .*not UTF-8/],
  [`template create --account ${account} --name x --file ${files.nul}`, 1, /--file .*NUL/],
  [`template create --account ${account} --name a/b --file ${files.template}`, 1, /Invalid template name/],
  [`template create --account 999999 --name x --file ${files.template}`, 1, /--account: /],
  [`suppression add --account ${account}`, 2, /missing option --email or --domain/],
  [`suppression add --account ${account} --email a@b.example --domain b.example`, 2, /cannot be used together/],
  [`suppression add --account ${account} --email nobody`, 1, /Invalid email address/],
  [`suppression add --account ${account} --domain a..b`, 1, /Invalid email domain/],
  ['suppression add --email a@b.example', 2, /missing option --account\nusage: .*--global/],
  [`suppression add --account ${account} --global --email a@b.example`, 2, /cannot be used together/],
  [`suppression remove --account ${account}`, 2, /missing option --email or --domain/],
  ['suppression list', 2, /missing option --account/],
  ['suppression show --account 999999 --email lena@harbor.example', 1, /account 999999 not found/],
  ['suppression show --email a@b.example', 2, /missing option --account/],
  [`suppression show --account ${account}`, 2, /missing option --email/],
  [`suppression show --account ${account} --email nobody`, 1, /Invalid email address/],
  [`suppression show --account ${account} --email a@b.example --group x`, 2, /--group must be/],
  ['suppression list --global --reason none', 2, /--reason must be one of unsubscribe/],
  ['suppression add --account 999999 --domain b.example', 1, /--account: /],
  ['message list --state lost', 2, /--state must be one or several of scheduled, .*expired, .* \(got "lost"\)/],
  ['message list --limit 0', 2, /--limit must be from 1 to 1000 \(got 0\)/],
  ['message list --since sometime', 2, /--since must be an ISO 8601 time/],
  ['message list --after x', 1, /--after: must be the cursor of the previous page/],
  ['message list --account 999999', 1, /account 999999 not found/],
  ['message show', 2, /missing argument: message id\nusage: postrider message show ID/],
  ['message show ../../etc', 1, /message "..\/..\/etc" not found; the id is in/],
  [`message show ${'0'.repeat(32)}`, 1, /message "0+" not found/],
  ['message send', 2, /missing option --to\nusage: postrider message send --to ADDRESS/],
  ['message send --to nobody', 2, /--to must be an email address \(got "nobody"\)/],
  ['message send --to a@b.example', 2, /missing option --from or --account/],
  ['message send --to a@b.example --from c@d.example', 2, /missing option --key .*POSTRIDER_API_KEY/],
  ['message send --to a@b.example --from c@d.example --via fax', 2, /--via must be one of v2, v3, smtp \(got "fax"\)/],
  ['message send --to a@b.example --from c@d.example --class slow', 2, /--class must be one of urgent, normal, bulk/],
  ['message send --to a@b.example --from c@d.example --key k', 1, /could not reach the Web API at http.*npm start/],
  [
    'message send --to a@b.example --from c@d.example --key k --via smtp',
    1,
    /could not use the relay at 127.0.0.1:1: /,
  ],
  ['message send --to a@b.example --account 999999 --key k', 1, /account 999999 has no active sending domain/],
  ['message submit', 2, /missing argument: file\nusage: postrider message submit FILE/],
  ['message submit nowhere.eml --key k', 1, /nowhere\.eml cannot be read: ENOENT/],
  ['message why', 2, /missing argument: message id\nusage: postrider message why ID \[--recipient ADDRESS\]/],
  [`message why ${'0'.repeat(32)}`, 1, /message "0+" not found/],
  ['message try', 2, /missing argument: message id\nusage: postrider message try ID/],
  ['message cancel', 2, /missing argument: message id\nusage: postrider message cancel ID/],
  ['message requeue', 2, /missing argument: message id\nusage: postrider message requeue ID \[--recipient ADDRESS\]/],
  [`message requeue ${'0'.repeat(32)}`, 1, /message "0+" not found/],
  ['message release', 2, /missing argument: message id\nusage: postrider message release ID/],
  [`message fail ${'0'.repeat(32)} --yes`, 1, /message "0+" not found/],
  ['inbox list', 1, /could not reach the sandbox at http:.*npm start/],
  ['inbox show', 2, /missing argument: message id/],
  ['health mail', 2, /unknown process "mail"; must be one of api, relay, delivery, returns, sandbox/],
  ['health', 1, /health check of http.*health\/ready failed/],
  ['health relay', 1, /health check of 127\.0\.0\.1.* failed \(no SMTP greeting\)/],
  ['health delivery', 1, /no running delivery worker/],
  ['health sandbox', 1, /health check of .* failed/],
]

/** Settings that are wrong. */
const SETTINGS: readonly (readonly [set: Record<string, string>, line: string, status: number, said: RegExp])[] = [
  [{ API_PORT: 'http' }, 'account list', 78, /^postrider: API_PORT must be a whole number/],
  [{ DATA_DIR: '/dev/null/x' }, 'up', 78, /^postrider: DATA_DIR must be a folder that this user can write to.*ENOTDIR/],
  [{ DATA_DIR: '/dev/null/x', SECRET_KEY: '' }, 'account list', 78, /^postrider: DATA_DIR must be/],
  [{ DATA_DIR: '/dev/null/x', SECRET_KEY: '', DATABASE_URL: '' }, 'migrate', 78, /^postrider: DATA_DIR must be/],
  [{ DATABASE_URL: 'mysql://x' }, 'account list', 78, /^postrider: DATABASE_URL must be like/],
  [{ DATABASE_URL: `postgres://a:b@127.0.0.1:1/c` }, 'account list', 1, /ECONNREFUSED.*DATABASE_URL/],
  [{ DATABASE_URL: `postgres://a:b@127.0.0.1:1/c` }, 'up', 1, /ECONNREFUSED.*DATABASE_URL/],
  [{ DATABASE_URL: withUser('nobody') }, 'account list', 1, /DATABASE_URL: .*nobody/],
  [
    { SECRET_KEY: 'another key than this database has been set up with' },
    'account list',
    1,
    /SECRET_KEY differs from the one/,
  ],
]

function withUser(name: string): string {
  const url = new URL(env.DATABASE_URL as string)
  url.username = name
  return url.href
}

t.test('a wrong call ends with its status and an error that names what is wrong, without a stack', async (t) => {
  t.jobs = 2
  for (const [line, status, said] of WRONG) {
    t.test(`postrider ${line}`.slice(0, 90), async (t) => {
      const { code, stdout, stderr } = await postrider(env, ...line.split(' '))
      t.equal(code, status)
      t.match(stderr, said)
      t.match(stderr, /^postrider: /)
      t.notMatch(stderr, /^ +at |node:internal|constraint/m)
      t.equal(stdout, '')
    })
  }
  for (const [set, line, status, said] of SETTINGS) {
    t.test(`postrider ${line} with another ${Object.keys(set)}`, async (t) => {
      const { code, stderr } = await postrider({ ...env, ...set }, ...line.split(' '))
      t.equal(code, status)
      t.match(stderr, said)
      t.notMatch(stderr, /^ +at |node:internal/m)
    })
  }
})

t.test('a search that begins with "-" is told how it is given', async (t) => {
  const { code, stderr } = await postrider(env, 'message', 'list', '-reminder')
  t.equal(code, 2)
  t.match(stderr, 'a search that begins with "-" follows "--": postrider message list -- -reminder')
  t.equal((await postrider(env, 'message', 'list', '--', '-reminder')).code, 0)
})

t.test('--since takes what after: takes', async (t) => {
  for (const since of ['1h', '2d', 'yesterday', '2026-01-31'])
    for (const command of [
      ['message', 'list'],
      ['returns', 'list'],
    ])
      t.match(
        await postrider(env, ...command, '--since', since),
        { stderr: /^(?!.*since)/s },
        `${command.join(' ')} ${since}`,
      )
})

t.test('with --json an error is one JSON line on stderr', async (t) => {
  for (const [line, status] of [
    ['acount', 2],
    ['account create', 2],
    ['account suspend 999999', 1],
  ] as const) {
    const { code, stdout, stderr } = await postriderProcess(env, ...line.split(' '), '--json')
    t.equal(code, status)
    t.type((JSON.parse(stderr) as { error: string }).error, 'string')
    t.equal(stdout, '')
  }
})

t.test('--help shows every command, and of one command its usage, whatever the settings are', async (t) => {
  const broken = { API_PORT: 'http' }
  const all = await postriderProcess(broken, '--help')
  t.equal(all.code, 0)
  t.notMatch(all.stdout, / {50}/, 'a long command does not push the others apart')
  for (const { name } of COMMANDS) {
    const [first, ...rest] = name.split(' ')
    t.match(
      all.stdout.replaceAll(/\n {4,}/g, ' '),
      new RegExp(`^ {2}${first} .*${rest[0] ? `[:,] ${rest[0]}\\b` : ''}`, 'm'),
    )
  }
  t.equal((await postrider(broken)).stdout, all.stdout, 'without a word it helps, too')
  for (const name of ['up', 'setup', 'account expire', 'key create', 'inbox show']) {
    const { code, stdout } = await postrider(broken, ...name.split(' '), '--help')
    t.equal(code, 0)
    t.match(stdout, new RegExp(`^Usage: postrider ${name}\\b`))
  }
})

t.test('health of a process that is not ready shows its reasons', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/json' })
    response.end('{"status":"not ready","reasons":["the disk is full","the clock is off"]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  t.match(await postrider({ API_HOST: '127.0.0.1', API_PORT: String(port) }, 'health'), {
    code: 1,
    stderr: /failed \(status 503\); the disk is full; the clock is off$/m,
  })
})
