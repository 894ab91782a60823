import { SCOPES, type Scope } from '@postrider/core'
import { type AccountCall, field, fields } from '../../frame/call.ts'

/** Permissions that most keys need. `own`: the scopes that are ticked. */
export const PRESETS = ['send', 'read', 'agent', 'full', 'own'] as const
export type Preset = (typeof PRESETS)[number]

const SENDS_AND_READS: readonly Scope[] = ['send', 'events', 'stats', 'suppressions.read', 'templates.read']

const AGENT_READS: readonly Scope[] = ['events', 'stats']

/** The scopes that the visitor's role may give. */
export function ownScopes(call: AccountCall): readonly Scope[] {
  return SCOPES.filter(
    (scope) => !scope.includes('.') && (scope === 'all' ? call.account.role === 'owner' : call.may(scope)),
  )
}

/** The preset that is chosen in a form. A form with scopes and without a preset is that of a program, or of an open page of an older version. */
export function presetOf({ form }: AccountCall): Preset {
  const chosen = PRESETS.find((one) => one === field(form, 'preset'))
  return chosen ?? (form.scopes === undefined ? 'send' : 'own')
}

/** The scopes of a submitted form. */
export function scopesOf(call: AccountCall): readonly string[] {
  switch (presetOf(call)) {
    case 'send':
      return ['send']
    case 'read':
      return SENDS_AND_READS
    case 'agent':
      // An agent is talked into things. It sends only where the mail stays within domains that were named.
      return field(call.form, 'recipientDomains').trim() === '' ? AGENT_READS : [...AGENT_READS, 'send']
    case 'full': {
      const own = ownScopes(call)
      return own.includes('all') ? ['all'] : own
    }
    case 'own':
      return fields(call.form, 'scopes')
  }
}
