import { SEALED_SMART_HOSTS } from './delivery/sources/smart-hosts.ts'
import { SEALED_DKIM_KEYS } from './domains/keys/dkim-key.ts'
import { SEALED_TOTP_SECRETS } from './people/log-in/totp.ts'
import type { SealedColumn } from './platform/security/key-rotation.ts'
import { SEALED_WEBHOOK_COLUMNS } from './reporting/webhooks/sealing.ts'
import { SEALED_FORGET_REQUESTS } from './retention/privacy/forget.ts'

/** All columns with values sealed by SECRET_KEY, which a rotation of it seals again. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  ...SEALED_DKIM_KEYS,
  ...SEALED_WEBHOOK_COLUMNS,
  SEALED_SMART_HOSTS,
  SEALED_TOTP_SECRETS,
  SEALED_FORGET_REQUESTS,
]
