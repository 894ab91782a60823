import { generateKeyPairSync } from 'node:crypto'
import type { Caller, Input, Setting, Wall, WallEntry } from './entry.ts'

let names = 0

async function added({ act }: Setting, owner: Caller): Promise<string> {
  const domain = `wall${++names}.example`
  await act(owner, 'addDomain', { domain })
  return domain
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

function one(extra: Input = {}): WallEntry {
  return {
    kind: 'object',
    make: async (setting, owner) => ({ domain: await added(setting, owner), ...extra }),
    missing: { domain: 'never.example' },
    seen: ({ domain }) => ['listDomains', { domain }],
  }
}

export const domains: Wall = {
  addDomain: { kind: 'own', input: { domain: 'own-wall.example' }, seen: ['listDomains', {}] },
  listDomains: { kind: 'list', make: added },
  verifyDomain: one(),
  setDkimKey: one({ selector: 'own', privateKey }),
}
