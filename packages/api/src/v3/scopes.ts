import { type Operation, operation } from './operation.ts'

/** What the key may do, in v3's names; clients ask it to see whether their key is good (contract 7.1). */
export const SCOPES: readonly Operation[] = [
  operation({
    name: 'listScopes',
    summary: 'What the key allows',
    ...{ section: '7.1', method: 'GET', path: '/scopes', scope: null, right: null, status: 200 },
    act: async (_input, { rights }) => ({ scopes: rights }),
  }),
]
