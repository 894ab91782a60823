import { allows, SCOPES, UNRESTRICTED } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { ShownRestrictions, shownRestrictions } from './key-restrictions.ts'

/** The calling key. */
export const OWN_KEY: readonly Operation[] = [
  operation({
    name: 'showKey',
    summary: 'Show what the calling key is allowed to do. Any key can call this',
    cli: { none: 'about the key of the call; commands have none' },
    group: 'Key',
    scope: null,
    routes: [['/key', 'GET', 'POST']],
    input: Type.Object({}),
    answer: Type.Object({
      id: Type.Integer(),
      scopes: Type.Array(Type.String(), { description: 'as they were given to the key' }),
      allowed: Type.Array(Type.String(), { description: 'all scopes that it has by them' }),
      restrictions: ShownRestrictions,
      account: Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        state: Type.Enum(['active', 'suspended']),
        maySend: Type.Boolean({ description: 'false if it is suspended or has expired' }),
        parent: Type.Union([Type.Integer(), Type.Null()], { description: 'of a subaccount: the account above it' }),
      }),
    }),
    errors: [],
    example: {
      input: {},
      data: {
        id: 12,
        scopes: ['send', 'events'],
        allowed: ['send', 'events', 'send.read'],
        restrictions: { sender_domains: ['ship.example'] },
        account: { id: 7, name: 'ship', state: 'active', maySend: true, parent: null },
      },
    },
    async act(_input, { principal }) {
      const { keyId, scopes, restrictions, account, expired } = principal
      const state = account.state === 'suspended' ? 'suspended' : 'active'
      const data = {
        id: keyId,
        scopes: [...scopes],
        allowed: SCOPES.filter((scope) => allows(scopes, scope)),
        restrictions: shownRestrictions({ restrictions: restrictions ?? UNRESTRICTED }),
        account: {
          id: account.id,
          name: account.name,
          state: state as typeof state,
          parent: account.parentId,
          maySend: state === 'active' && !expired,
        },
      }
      return { data }
    },
  }),
]
