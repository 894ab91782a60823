import type { Caller, Setting, Wall } from './entry.ts'

/** Disabled, so that no url is asked. */
const settings = { url: 'https://hooks.example/here', events: 'sent', enabled: 0 }

/** An account has ten at most. */
async function make({ act }: Setting, owner: Caller) {
  const others = (await act(owner, 'listWebhooks', {})) as { webhookId: number }[]
  for (const { webhookId } of others.slice(0, -5)) await act(owner, 'removeWebhook', { webhookId })
  const { webhookId } = (await act(owner, 'createWebhook', settings)) as { webhookId: number }
  return { webhookId }
}

const missing = { webhookId: 2_000_000_000 }
const seen = ({ webhookId }: { webhookId?: unknown }) => ['showWebhook', { webhookId }] as const
export const webhooks: Wall = {
  createWebhook: { kind: 'own', make, input: settings, seen: ['listWebhooks', {}] },
  listWebhooks: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'createWebhook', { ...settings, url: 'https://marked.example/own' })
      return 'marked.example'
    },
  },
  showWebhook: { kind: 'object', make, missing, seen },
}
