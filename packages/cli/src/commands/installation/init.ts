import { randomBytes } from 'node:crypto'
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import {
  type Config,
  type Core,
  commandLines,
  type DomainWithRecords,
  parseAddress,
  parseDomain,
  parsePublicUrl,
  readConfig,
  SETTINGS,
} from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, textOption, UsageError } from '../../command.ts'
import { makeFirstLink } from '../../first-run.ts'
import { withInstallation } from '../../installation.ts'
import { isSafeValue, readSettings, SETTINGS_FILE, settingsPath, settingsText } from '../../settings-file.ts'
import { table } from '../../table.ts'

export const initCommands: readonly Command[] = [
  {
    name: 'init',
    usage: '[--company NAME] [--domain DOMAIN] [--host NAME] [--public-url URL] [--mail ADDRESS]',
    summary: 'Set up an installation that delivers to the internet: settings, database, account, domain',
    detail:
      `Writes the settings to ${SETTINGS_FILE} in the folder it is run in, from where all commands read them; creates the database, or uses that in ` +
      'DATABASE_URL; and shows the API key, the link that makes you the owner, and the DNS records to publish. On a ' +
      'terminal it asks for what is not given. If it is interrupted, run it again',
    parameters: {
      company: 'Name of the account, 1 to 100 characters',
      domain: 'Domain that you send from',
      host: 'Name of this host in the DNS, with which it greets mail servers (default: mail.DOMAIN)',
      'public-url': 'Where people reach the Web API: links in mail begin with it (default: https://HOST)',
      mail: 'Your address at another mail server, to which letters to abuse@ and postmaster@ are passed on (default: none)',
    },
    examples: ['init --company "Harbor Shipping" --domain ship.example --host mail.ship.example'],
    creates: true,
    run: init,
  },
]

interface Plan {
  readonly company: string
  readonly domain: string
  readonly settings: Readonly<Record<string, string>>
}

async function init(call: Call): Promise<Answer> {
  const file = settingsPath(call.env)
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new CommandError(
      `${file} is here already: change the settings in it, and add accounts and domains with "account create" and "domain add"`,
    )
  const plan = await planOf(call)
  const { company, domain } = plan
  // Before the database: it keeps the key that it is set up with, and so must an installation that is interrupted.
  const { draft, settings } = drafted(file, plan.settings)
  const env = { ...call.env, ...settings }
  const config = readConfig(env)
  const done = await withInstallation(config, env.DATABASE_URL || undefined, async (core) => {
    const account = await accountNamed(core, company)
    const added = await domainOf(core, account.id, domain)
    const { secret } = await core.auth.createKey({ accountId: account.id, name: 'first' })
    const ownerLink = (await makeFirstLink(core, config))?.url ?? null
    return { accountId: account.id, apiKey: secret, domain: added, ownerLink }
  })
  renameSync(draft, file)
  return { data: { settings: resolve(file), ...done }, text: report(done, settings, { file, config }) }
}

/**
 * Writes the settings to a draft next to their file, with the secret key of the draft that an interrupted call left. Throws {@link CommandError} if it
 * cannot be written.
 */
function drafted(
  file: string,
  settings: Plan['settings'],
): { readonly draft: string; readonly settings: Plan['settings'] } {
  const draft = `${file}.draft`
  const { SECRET_KEY } = readSettings(draft).settings
  const all = settings.SECRET_KEY && SECRET_KEY ? { ...settings, SECRET_KEY } : settings
  try {
    rmSync(draft, { force: true })
    writeFileSync(draft, settingsText(all), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CommandError(`${resolve(draft)} could not be written (${(error as NodeJS.ErrnoException).code})`)
  }
  return { draft, settings: all }
}

/** Reads the options, and on a terminal what is missing. Throws {@link UsageError}. */
async function planOf(call: Call): Promise<Plan> {
  const ask =
    process.stdin.isTTY && process.stdout.isTTY && !call.options.json
      ? createInterface({ input: process.stdin, output: process.stdout })
      : undefined
  /** The answer as `check` returns it; on a terminal, the question comes again after a wrong one. */
  const get = async (
    option: string,
    question: string,
    check: (text: string) => string,
    usual?: string,
  ): Promise<string> => {
    const given = textOption(call, option)
    if (given !== undefined || !ask) return checked(option, given ?? usual, check)
    for (;;) {
      const answer = (await ask.question(`${question}${usual ? ` [${usual}]` : ''}: `)).trim()
      try {
        return check(answer || (usual ?? ''))
      } catch (error) {
        process.stdout.write(`  This ${(error as Error).message}.\n`)
      }
    }
  }
  try {
    requireSafe(call.env)
    const company = await get('company', 'Name of your company', companyOf)
    const domain = await get('domain', 'Domain that you send from', hostOf)
    const host = await get('host', 'Name of this host in the DNS', hostOf, `mail.${domain}`)
    const url = await get('public-url', 'Where people reach the Web API', urlOf, `https://${host}`)
    const mail = await get(
      'mail',
      'Your address at another mail server, for letters to abuse@ and postmaster@ (or nothing)',
      mailOf,
      '',
    )
    return { company, domain, settings: settingsOf({ domain, host, url, mail }, call.env) }
  } finally {
    ask?.close()
  }
}

/** Throws {@link UsageError} with the name of the option. */
function checked(option: string, text: string | undefined, check: (text: string) => string): string {
  if (text === undefined) throw new UsageError(`missing option --${option}`)
  try {
    return check(text)
  } catch (error) {
    throw new UsageError(`--${option} ${(error as Error).message}`)
  }
}

function companyOf(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > 100) throw new Error('must have 1 to 100 characters')
  return name
}

function hostOf(text: string): string {
  const name = parseDomain(text.trim())
  if (name === undefined || !name.includes('.'))
    throw new Error(`must be a domain name such as example.com (got "${text}")`)
  return name
}

function urlOf(text: string): string {
  return parsePublicUrl(safe(text)).publicUrl
}

function mailOf(text: string): string {
  if (text !== '' && !parseAddress(text)) throw new Error(`must be an email address (got "${text}")`)
  return safe(text)
}

/** Settings of the environment that the file gets, since the service would otherwise start without them. */
const TAKEN_OVER = SETTINGS.map(({ name }) => name).filter((name) => name.endsWith('_PORT') || name === 'TRUST_PROXY')

const UNSAFE = 'must have no blanks or quotes, and none of \\ $ # `, which a file of settings cannot have'

function safe(text: string): string {
  if (!isSafeValue(text)) throw new Error(UNSAFE)
  return text
}

/** Checks what is taken over from the environment. Throws {@link UsageError}. */
function requireSafe(env: NodeJS.ProcessEnv): void {
  const wrong = ['DATABASE_URL', 'SECRET_KEY', 'DATA_DIR', ...TAKEN_OVER].find((name) => !isSafeValue(env[name] ?? ''))
  if (wrong !== undefined) throw new UsageError(`${wrong} ${UNSAFE}`)
}

function settingsOf(
  { domain, host, url, mail }: Record<'domain' | 'host' | 'url' | 'mail', string>,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  return {
    DELIVERY: 'mx',
    HELO_NAME: host,
    PUBLIC_URL: url,
    // The proxy on this host: without it, everyone who comes through the proxy would have the proxy's address.
    ...(url.startsWith('https:') ? { TRUST_PROXY: '127.0.0.1' } : {}),
    // Bounces and complaints come from everywhere.
    RETURNS_HOST: '0.0.0.0',
    // With a database elsewhere, the file goes to other hosts and folders, where this one is not.
    ...(env.DATABASE_URL && !env.DATA_DIR ? {} : { DATA_DIR: resolve(env.DATA_DIR || 'data') }),
    SERVICE_DOMAIN: domain,
    ...(mail === '' ? {} : { OPERATOR_MAIL: mail }),
    // Of a call that was told other ports, or another proxy.
    ...Object.fromEntries(TAKEN_OVER.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    // All hosts need the same one; with a database of its own, it is in DATA_DIR.
    ...(env.DATABASE_URL
      ? { DATABASE_URL: env.DATABASE_URL, SECRET_KEY: env.SECRET_KEY || randomBytes(32).toString('hex') }
      : {}),
  }
}

/** The first account of that name: an earlier call may have been interrupted. */
async function accountNamed({ accounts }: Core, name: string): Promise<{ readonly id: number }> {
  const all = (await accounts.list()).filter(({ state }) => state !== 'deleted')
  const own = all.find((one) => one.name === name && one.parentId === null)
  if (own) return own
  const [other] = all
  if (other)
    throw new CommandError(
      `the database has accounts already, such as "${other.name}", whose mail would go to the internet: set DATA_DIR to a new folder, or ` +
        'DATABASE_URL to an empty database, and call init again',
    )
  return accounts.create(name)
}

async function domainOf({ domains }: Core, accountId: number, name: string): Promise<DomainWithRecords> {
  const known = (await domains.list(accountId)).some((one) => one.name === name)
  if (!known) await domains.add({ accountId, name, state: 'pending' })
  return domains.show(name, accountId)
}

interface Done {
  readonly accountId: number
  readonly apiKey: string
  readonly domain: DomainWithRecords
  readonly ownerLink: string | null
}

function report(
  { accountId, apiKey, domain, ownerLink }: Done,
  { HELO_NAME: host = '', PUBLIC_URL: url = '' }: Plan['settings'],
  { file, config }: { readonly file: string; readonly config: Config },
): string {
  const { start, command, hasUnit } = commandLines()
  const how = hasUnit ? '' : `, in this folder; "${command} unit" prints a unit for systemd that does so`
  const records = domain.dns.map(({ purpose, type, host: at, value }) => [purpose, type, at, value])
  const owner =
    ownerLink === null
      ? ''
      : `Link that makes you the owner, once the service runs (once, for 24 hours): ${ownerLink}\n`
  return `wrote ${resolve(file)}
account ${accountId}
API key ${apiKey} (shown once)
${owner}
Publish these records for ${domain.name}:
${table(['purpose', 'type', 'host', 'value'], records, { whole: ['value'] })}

next:
  1. Point ${host} to this host, by its address record and the reverse one; "${command} dns" shows these and the others of this host.
  2. Let a proxy with a certificate pass ${url} to http://127.0.0.1:${config.apiPort} (docs/reverse-proxy.md), and port 25 of this host to port
     ${config.returnsPort} (docs/returns.md).
  3. ${start}${how}.
  4. ${command} doctor says what is not right yet, and with what to do.`
}
