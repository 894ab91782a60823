import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
  ['acount list', 2, /no command "acount list".*account list/s],
  ['account list --bogus', 2, /'--bogus'\nusage: postrider account list$/m],
  ['account list extra', 2, /"extra" is one word too many\nusage: postrider account list$/m],
  ['account create', 2, /--name is missing\nusage: postrider account create --name NAME/],
  ['account create --name', 2, /--name.*argument missing\nusage/],
  [`account create --name ${sender.accountName}`, 1, /\[name\].*already used/],
  [`account create --name ${'n'.repeat(101)}`, 1, /\[name\].*1 to 100 characters/],
  ['account suspend', 2, /the number of the account is missing\nusage: postrider account suspend ID/],
  ['account suspend twelve', 2, /the account must be a number, not "twelve"/],
  ['account suspend 1 --account 2', 2, /the account is given twice/],
  ['account suspend 999999', 1, /\[account\].*does not exist/],
  ['account resume 9999999999', 2, /must be a number/],
  [`account expire ${account} --at tomorrow`, 2, /--at must be an ISO 8601 time like .*, not "tomorrow"/],
  [`account expire ${account} --at 2026-13-40`, 2, /--at must be an ISO 8601 time/],
  ['key create', 2, /--account is missing\nusage: postrider key create --account ID/],
  ['key create --account 999999', 1, /\[account\].*does not exist/],
  [`key create --account ${account} --until tomorrow`, 2, /--until must be an ISO 8601 time/],
  [`key create --account ${account} --template five`, 1, /\[restrictions\.templates\]/],
  ['key update 1', 2, /nothing is to be changed/],
  ['key update 1 --lift everything', 2, /--lift takes ip, template/],
  ['key rotate 999999', 1, /Invalid key id/],
  ['key rotate 1 --overlap-hours 721', 1, /\[overlap_hours\]/],
  [`account limit ${account} --sends many`, 2, /--sends must be a number/],
  ['account limit 999999 --sends 5', 1, /\[account\].*does not exist/],
  [
    `key create --account ${account} --ip 10.0.0.0/33`,
    1,
    /\[networks\].*"10.0.0.0\/33" is not a valid IP address or network/,
  ],
  [`key create --account ${account} --scope everything`, 1, /\[scopes\].*all, send[^;]*$/],
  [
    `key create --account ${account} --scope mail.send`,
    1,
    /\[scopes\].*all, send.*; SendGrid's names, such as mail\.send, can only be granted with POST \/v3\/api_keys/,
  ],
  ['key list', 2, /--account is missing/],
  ['key revoke 999999', 1, /Invalid key id/],
  ['domain add example.com', 2, /--account is missing\nusage: postrider domain add --account ID DOMAIN/],
  [`domain add --account ${account}`, 2, /the domain is missing\nusage/],
  [`domain add --account ${account} a..b`, 1, /"a..b" is not a domain name like example.com/],
  [`domain add --account ${account} one.example two.example`, 2, /"two.example" is one word too many/],
  [`domain add --account ${account} ${sender.domain}`, 1, /"ship\d+.example" is added already/],
  ['domain add --account 999999 nobodys.example', 1, /\[account\].*does not exist/],
  ['domain activate nobodys.example', 1, /no domain "nobodys.example": "domain list" shows all/],
  ['domain dns nobodys.example', 1, /no domain "nobodys.example": "domain list" shows all/],
  [`template create --account ${account} --name x`, 2, /--file is missing/],
  [`template create --account ${account} --name x --file ${folder}/none`, 1, /--file .*\/none can't be read: ENOENT/],
  [`template create --account ${account} --name x --file ${folder}`, 1, /--file .* can't be read: EISDIR/],
  [`template create --account ${account} --name x --file ${files.octets}`, 1, /--file .*not UTF-8/],
  [`template create --account ${account} --name x --file ${files.nul}`, 1, /--file .*NUL/],
  [`template create --account ${account} --name a/b --file ${files.template}`, 1, /Invalid template name/],
  [`template create --account 999999 --name x --file ${files.template}`, 1, /\[account\].*does not exist/],
  [`suppression add --account ${account}`, 2, /--email or --domain is missing/],
  [`suppression add --account ${account} --email a@b.example --domain b.example`, 2, /exclude each other/],
  [`suppression add --account ${account} --email nobody`, 1, /Invalid email address/],
  [`suppression add --account ${account} --domain a..b`, 1, /Invalid email domain/],
  ['suppression add --email a@b.example', 2, /--account is missing\nusage: .*--global/],
  [`suppression add --account ${account} --global --email a@b.example`, 2, /exclude each other/],
  [`suppression remove --account ${account}`, 2, /--email or --domain is missing/],
  ['suppression list', 2, /--account is missing/],
  ['suppression list --global --reason none', 2, /--reason must be one of unsubscribe/],
  ['suppression add --account 999999 --domain b.example', 1, /\[account\].*does not exist/],
  ['message show', 2, /the message id is missing\nusage: postrider message show ID/],
  ['message show ../../etc', 1, /no message "..\/..\/etc": the id is the one/],
  [`message show ${'0'.repeat(32)}`, 1, /no message "0+"/],
  ['message release', 2, /the message id is missing\nusage: postrider message release ID/],
  [`message fail ${'0'.repeat(32)}`, 1, /no message "0+"/],
  ['inbox list', 1, /sandbox does not answer at http:.*npm start/],
  ['inbox show', 2, /the message id is missing/],
  ['health mail', 2, /no process "mail"; there are api, relay, delivery, sandbox/],
  ['health', 1, /no good answer at http.*health\/ready/],
  ['health relay', 1, /no SMTP greeting at 127.0.0.1/],
  ['health delivery', 1, /no delivery worker/],
  ['health sandbox', 1, /no good answer/],
]

/** Settings that are wrong. */
const SETTINGS: readonly (readonly [set: Record<string, string>, line: string, status: number, said: RegExp])[] = [
  [{ API_PORT: 'http' }, 'account list', 78, /^postrider: API_PORT must be a whole number/],
  [{ DATA_DIR: '/dev/null/x' }, 'up', 78, /^postrider: DATA_DIR must be a folder this user can write to.*ENOTDIR/],
  [{ DATA_DIR: '/dev/null/x', SECRET_KEY: '' }, 'account list', 78, /^postrider: DATA_DIR must be/],
  [{ DATA_DIR: '/dev/null/x', SECRET_KEY: '', DATABASE_URL: '' }, 'account list', 78, /^postrider: DATA_DIR must be/],
  [{ DATABASE_URL: 'mysql://x' }, 'account list', 78, /^postrider: DATABASE_URL must be like/],
  [{ DATABASE_URL: `postgres://a:b@127.0.0.1:1/c` }, 'account list', 1, /ECONNREFUSED.*DATABASE_URL/],
  [{ DATABASE_URL: `postgres://a:b@127.0.0.1:1/c` }, 'up', 1, /ECONNREFUSED.*DATABASE_URL/],
  [{ DATABASE_URL: withUser('nobody') }, 'account list', 1, /DATABASE_URL: .*nobody/],
  [
    { SECRET_KEY: 'another key than this database has been set up with' },
    'account list',
    1,
    /SECRET_KEY is not the one/,
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
  const names = [...all.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)\b/gm)].map(([, name]) => name as string)
  t.strictSame(
    names.filter((name) => /^(account|key|domain|message|inbox) /.test(name)),
    [
      ...['account create', 'account list', 'account suspend', 'account resume', 'account expire'],
      ...['account limit', 'account settings', 'key create', 'key list', 'key update', 'key rotate', 'key revoke'],
      ...['domain add', 'domain list', 'domain activate', 'domain dns'],
      ...['message show', 'message aside', 'message release', 'message fail', 'inbox list', 'inbox show'],
    ],
  )
  t.equal((await postrider(broken)).stdout, all.stdout, 'without a word it helps, too')
  for (const name of ['up', 'setup', 'account expire', 'key create', 'inbox show']) {
    const { code, stdout } = await postrider(broken, ...name.split(' '), '--help')
    t.equal(code, 0)
    t.match(stdout, new RegExp(`^postrider ${name}\\b.*\n  \\S`))
  }
})
