import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

/** Disabled, so that nothing is sent anywhere. */
const body = { url: 'https://hooks.example/here', enabled: false, delivered: true }

/** An account has ten at most. */
async function make({ act }: Setting, owner: Caller): Promise<{ params: { id: string } }> {
  const { webhooks: others } = (await act(owner, 'listWebhooks')) as { webhooks: { id: string }[] }
  for (const { id } of others.slice(0, -5)) await act(owner, 'deleteWebhook', { params: { id } })
  const { id } = (await act(owner, 'createWebhook', { body })) as { id: string }
  return { params: { id } }
}

const missing = { params: { id: '999999999' } }
const object = (seen: 'viewWebhook' | 'viewWebhookSigning', change?: object): WallEntry => ({
  kind: 'object',
  make: async (setting, owner) => ({ ...(await make(setting, owner)), ...(change ? { body: change } : {}) }),
  missing,
  seen: ({ params = {} }) => [seen, { params }],
})
const own = (change: object, seen: string): WallEntry => ({
  kind: 'own',
  make,
  input: { body: change },
  seen: [seen, {}],
})
const marked: WallEntry = {
  kind: 'list',
  async make(setting, owner) {
    await make(setting, owner)
    const url = 'https://marked.example/own'
    await setting.act(owner, 'editOldestWebhook', { body: { url } })
    return url
  },
}

export const webhooks: Wall = {
  createWebhook: own(body, 'listWebhooks'),
  listWebhooks: marked,
  viewOldestWebhook: marked,
  editOldestWebhook: own({ url: 'https://hooks.example/other' }, 'listWebhooks'),
  viewWebhook: object('viewWebhook'),
  editWebhook: object('viewWebhook', { open: true }),
  viewOldestWebhookSigning: {
    kind: 'list',
    async make(setting, owner) {
      await make(setting, owner)
      const { public_key } = (await setting.act(owner, 'signOldestWebhook', { body: { enabled: true } })) as {
        public_key: string
      }
      return public_key
    },
  },
  signOldestWebhook: own({ enabled: true }, 'viewOldestWebhookSigning'),
  viewWebhookSigning: object('viewWebhookSigning'),
  signWebhook: object('viewWebhookSigning', { enabled: true }),
  testWebhook: {
    kind: 'object',
    async make(setting, owner) {
      const { params } = await make(setting, owner)
      return { body: { url: `http://127.0.0.1:${setting.service.config.apiPort}/`, id: params.id } }
    },
    missing: { body: { url: body.url, id: '999999999' } },
    seen: () => ['listWebhooks', {}],
  },
}
