import type { TlsDemand } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { refuse } from '../refusal.ts'

const Change = Type.Object({
  require_tls: Type.Optional(Type.Boolean()),
  require_valid_cert: Type.Optional(Type.Boolean()),
  version: Type.Optional(Type.Number()),
})

/** The lowest version that this service speaks, whatever is demanded. */
const VERSION = 1.2
/** Lower ones that clients may ask for. */
const VERSIONS: readonly number[] = [1.1, VERSION]

const COMMON = { scope: 'account', section: '7.1', path: '/user/settings/enforced_tls', status: 200 } as const

/** The account's demand on the connections to recipients' servers, for all of its mail. Mail waits until it can be had, and is not dropped. */
export const ENFORCED_TLS: readonly Operation[] = [
  operation({
    ...COMMON,
    name: 'viewEnforcedTls',
    summary: 'Show whether the account demands TLS and valid certificates of recipients',
    cli: 'tls list',
    method: 'GET',
    right: 'user.settings.enforced_tls.read',
    act: async (_input, { core, principal }) => {
      const { id } = principal.account
      return shown(await core.tls.ofAccount(id), await core.tls.versionOf(id))
    },
  }),
  operation({
    ...COMMON,
    name: 'changeEnforcedTls',
    summary: 'Demand TLS, or TLS with a valid certificate, of the recipients of all mail',
    cli: 'tls set',
    method: 'PATCH',
    right: 'user.settings.enforced_tls.update',
    body: Change,
    act: async ({ body }, { core, principal, by }) => {
      const accountId = principal.account.id
      const wanted = levelOf(body, await core.tls.ofAccount(accountId))
      const { level } = await core.tls.set({ accountId, domain: null }, wanted, by, body.version)
      return shown(level, body.version ?? (await core.tls.versionOf(accountId)))
    },
  }),
]

/** The version is shown as it was given: programs that manage settings compare it. */
function shown(level: TlsDemand | 'none', version = VERSION) {
  return { require_tls: level !== 'none', require_valid_cert: hasValidCertificate(level), version }
}

function hasValidCertificate(level: TlsDemand | 'none'): boolean {
  return level !== 'none' && level !== 'required'
}

/** A valid certificate needs TLS: to demand it is to demand both, and not to require TLS is to require neither. Throws V3Refusal. */
function levelOf(
  { require_tls: tls, require_valid_cert: certificate, version }: Static<typeof Change>,
  before: TlsDemand | 'none',
): TlsDemand | 'none' {
  if (version !== undefined && !VERSIONS.includes(version)) {
    throw refuse(400, `version must be ${VERSIONS.join(' or ')}.`, 'version')
  }
  if (tls === false && certificate === true) {
    throw refuse(400, 'require_tls must be true if require_valid_cert is.', 'require_tls')
  }
  if (tls === false) return 'none'
  // An account may demand more than this format can say.
  if (certificate !== false && hasValidCertificate(before)) return before
  if (certificate === true) return 'verified'
  return tls === true || before !== 'none' ? 'required' : 'none'
}
