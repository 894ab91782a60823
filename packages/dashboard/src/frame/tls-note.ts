import { html, type Value } from '@postrider/ui'
import type { UserCall } from './call.ts'
import { catalogue } from './words.ts'

const tlsWords = catalogue({
  en: {
    demands: {
      required: 'All mail of this account demands TLS',
      verified: 'All mail of this account demands TLS with a valid certificate',
      dane: 'All mail of this account demands TLS that DANE authenticates',
    },
    text: 'Mail to a server without it waits, and fails at its deadline. The demand is changed by PATCH /v3/user/settings/enforced_tls or “postrider tls set”.',
  },
  de: {
    demands: {
      required: 'Alle Post dieses Kontos verlangt TLS',
      verified: 'Alle Post dieses Kontos verlangt TLS mit gültigem Zertifikat',
      dane: 'Alle Post dieses Kontos verlangt TLS, das DANE beglaubigt',
    },
    text: 'Post an andere Server wartet, bis ihre Frist endet, und scheitert. Ändern: PATCH /v3/user/settings/enforced_tls oder „postrider tls set“.',
  },
})

/** Says what an account demands of TLS, since its mail waits where that cannot be had; nothing without a demand. */
export async function tlsNote({ core, icon, language }: UserCall, accountId: number): Promise<Value> {
  const level = await core.tls.ofAccount(accountId)
  if (level === 'none') return null
  const { demands, text } = tlsWords(language)
  return html`<div class="note wait">${icon('lock', 'wait')}<div><b>${demands[level]}</b><p>${text}</p></div></div>`
}
