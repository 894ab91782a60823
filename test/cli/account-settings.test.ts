import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service

t.test("an account's settings are changed and shown, and an unknown setting is rejected", async (t) => {
  const { accountId } = await service.makeSender({ tracking: true })
  const id = String(accountId)
  const shown = { openTracking: true, footerText: null, timeZone: 'UTC', tlsDemand: 'none' }
  t.match(await answered(env, 'account', 'settings', id), shown)
  await service.core.tls.set({ accountId, domain: null }, 'verified')
  t.match(await answered(env, 'account', 'settings', id), { tlsDemand: 'verified' })
  t.match((await postrider(env, 'account', 'settings', id)).stdout, /tlsDemand +verified[\s\S]*mail waits while/)
  const changed = [
    '--open-tracking',
    'off',
    '--unsubscribe-link',
    'on',
    '--generate-text',
    'off',
    '--footer-text',
    'Ship & Co',
    '--event-days',
    '30',
    '--mail-class',
    'bulk',
  ]
  t.match(await answered(env, 'account', 'settings', id, ...changed, '--time-zone', 'Asia/Tokyo'), {
    openTracking: false,
    clickTracking: true,
    unsubscribeLink: true,
    generateText: false,
    mailClass: 'bulk',
    footerText: 'Ship & Co',
    timeZone: 'Asia/Tokyo',
    eventDays: 30,
    bodyDays: null,
  })
  t.match(await answered(env, 'account', 'settings', id, '--event-days', 'default', '--footer-text', ''), {
    eventDays: null,
    footerText: null,
    openTracking: false,
  })
  t.match(
    (await postrider(env, 'account', 'settings', id)).stdout,
    /^openTracking +false\n.*^footerHtml +\(none\)\n.*^eventDays +\(default\)$/ms,
  )
  await answered(env, 'account', 'settings', id, '--event-days', '30', '--body-days', '30')
  t.match(await answered(env, 'account', 'settings', id, '--event-days', '0', '--body-days', '0'), {
    eventDays: null,
    bodyDays: null,
  })
  t.match(await postrider(env, 'account', 'settings', id, '--privacy-mode', 'yes'), { code: 2, stderr: /on or off/ })
  t.match(await postrider(env, 'account', 'settings', id, '--event-days', '91'), { code: 1, stderr: /from 1 to 90/ })
  t.match(await postrider(env, 'account', 'settings', '999999'), {
    code: 1,
    stderr: /^postrider: account: does not exist/,
  })
})
