import { type Operation, operation } from '../operation.ts'

/** Permissions of the key, in v3's names. Clients use this call to test whether their key is valid (contract 7.1). */
export const SCOPES: readonly Operation[] = [
  operation({
    name: 'listScopes',
    summary: 'List the permissions of the key',
    cli: { none: 'about the key of the call; commands have none' },
    section: '7.1',
    method: 'GET',
    path: '/scopes',
    scope: null,
    right: null,
    status: 200,
    // A key that was created through v3 has those that were requested.
    act: async (_input, { principal, rightsOf }) => ({ scopes: principal.v3Rights ?? rightsOf(principal.scopes) }),
  }),
]
