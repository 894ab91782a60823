import { existsSync, statSync } from 'node:fs'
import {
  type Config,
  createKeyRotation,
  findSecrets,
  isActiveDomain,
  misspeltSettings,
  secretAgrees,
  secretKeyFile,
} from '@postrider/core'
import { openToOthers } from '../embedded-postgres/data-folder.ts'
import { hasEmbeddedDatabase } from '../installation.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, firstOf, ok, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

export const settingsChecks: readonly Check[] = [
  { area: 'settings', name: 'setting names', run: async ({ env }) => checkNames(env) },
  { area: 'settings', name: 'settings for tests', run: async (readings) => checkTestSettings(readings) },
  { area: 'settings', name: 'secret key', database: true, run: checkSecretKey },
  { area: 'settings', name: 'data folder', run: async ({ config }) => checkDataFolder(config) },
  { area: 'settings', name: 'mail to the operator', database: true, run: checkOperatorMail },
]

function checkNames(env: NodeJS.ProcessEnv): CheckResult {
  const found = misspeltSettings(env)
  if (found.length === 0) return ok('no variable looks like a misspelt setting')
  return warn(
    `these variables are not settings and have no effect: ${firstOf(found.map(({ name }) => name))}`,
    `rename ${firstOf(found.map(({ name, meant }) => `${name} to ${meant}`))}`,
  )
}

/** Settings that are safe only if no mail leaves the machine. */
function checkTestSettings({ config }: Readings): CheckResult {
  const { allowUnsafeDatabase, allowPrivateMx, outboundNetworks, delivery } = config
  const unsafe = [
    ...(allowUnsafeDatabase ? ['ALLOW_UNSAFE_DATABASE=1'] : []),
    ...(allowPrivateMx ? ['MX_PRIVATE_NETWORKS=allow'] : []),
    ...(outboundNetworks.includes('0.0.0.0/0') ? ['WEBHOOK_PRIVATE_NETWORKS=allow'] : []),
  ]
  if (unsafe.length === 0) return ok('none is set')
  if (delivery.kind === 'sandbox') return ok(`${unsafe.join(', ')}; the sandbox needs no protection from them`)
  const fix = `unset ${unsafe.map((one) => one.split('=', 1)[0]).join(', ')}, and restart the processes`
  return allowUnsafeDatabase
    ? bad('ALLOW_UNSAFE_DATABASE=1: accepted mail can be lost when the database server fails', fix)
    : warn(`${unsafe.join(', ')}: other people's domains and webhooks can reach hosts of your private networks`, fix)
}

async function checkSecretKey({ config, sql }: Readings): Promise<CheckResult> {
  const secrets = findSecrets(config)
  const file = secretKeyFile(config.dataDir)
  const useFirst =
    'set SECRET_KEY to the value of the first host (its DATA_DIR/secret-key, if its environment does not set it)'
  if (!secrets) return bad(`SECRET_KEY is not set, and ${file} does not exist`, useFirst)
  const agrees = await secretAgrees(sql(), secrets)
  if (agrees === false) return bad('SECRET_KEY differs from the one this database was set up with', useFirst)
  if (agrees) {
    const { inUse, resealed } = await createKeyRotation({ sql: sql(), secrets, columns: [] }).state()
    if (!inUse || !resealed)
      return warn(
        inUse
          ? 'some values may still be sealed with a key of SECRET_KEY_PREVIOUS'
          : 'SECRET_KEY is not in use yet, but one of SECRET_KEY_PREVIOUS is',
        'once every process is started with both settings: postrider secret rotate',
      )
  }
  if (config.secretKey === undefined && (statSync(file).mode & 0o077) !== 0)
    return warn(`other users of this host can read ${file}`, `chmod 600 ${file}`)
  return ok(agrees ? 'agrees with the database' : 'no process has used the database yet')
}

/** Only where it has secrets: elsewhere it may be a volume of which the system chooses the mode. */
function checkDataFolder(config: Config): CheckResult | undefined {
  if (!existsSync(secretKeyFile(config.dataDir)) && !hasEmbeddedDatabase(config)) return undefined
  const open = openToOthers(config)
  return open ? warn(open.problem, open.fix) : ok('only this user can list and change DATA_DIR')
}

async function checkOperatorMail({ config, sql }: Readings): Promise<CheckResult> {
  const { operatorMail, serviceDomain, delivery } = config
  if (operatorMail !== undefined && serviceDomain !== undefined) {
    return (await isActiveDomain(sql(), serviceDomain))
      ? ok('letters and warnings are sent to OPERATOR_MAIL')
      : bad(
          `OPERATOR_MAIL gets nothing: no account may send from ${serviceDomain} (SERVICE_DOMAIN)`,
          `postrider domain add --account ID ${serviceDomain}; if it exists: postrider domain check ${serviceDomain}`,
        )
  }
  if (delivery.kind === 'sandbox') return ok('OPERATOR_MAIL is not set; the sandbox needs none')
  return warn(
    'OPERATOR_MAIL is not set: letters to abuse@ and postmaster@, and warnings about accounts, are stored but not sent',
    serviceDomain === undefined ? 'set OPERATOR_MAIL and SERVICE_DOMAIN' : 'set OPERATOR_MAIL',
  )
}
