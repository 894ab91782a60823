import type { Outcome } from '@postrider/core'
import t from 'tap'
import { BOUNCED, DEFERRED, DELIVERED } from '../core/delivery/queue-of.ts'
import { happen } from '../core/reporting/statistics/happen.ts'
import { claimDue } from '../helpers/claim.ts'
import { registerWorker } from '../helpers/lease.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

async function makeMessage(t: Parameters<typeof openDashboard>[0], outcome: Outcome) {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { service, url } = dashboard
  const { body } = await sendV2(url, ada.apiKey, v2Body(ada))
  const id = body.data?.message_id as string
  const { workerId } = await registerWorker(t, service.core)
  const claimed = await claimDue(service.core, { workerId, limit: 10 })
  await service.core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome })))
  const page = async (language = 'en') => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    return (await (await fetch(`${url}/app/${ada.accountId}/messages/${id}`, { headers })).text()).replace(/\s+/g, ' ')
  }
  const sentence = async (language?: string) =>
    /<p class="sentence">(.*?)<\/p>/
      .exec(await page(language))?.[1]
      ?.replace(/<[^>]+>/g, '')
      .replaceAll('&quot;', '"')
  return { ...dashboard, ada, id, page, sentence }
}

const refused = (kind: 'bounced' | 'deferred', code: number, enhanced: string, text: string): Outcome =>
  ({
    ...(kind === 'bounced' ? BOUNCED : DEFERRED),
    reply: { code, enhanced, text },
  }) as Outcome

t.test(
  'a delivery has its total time and the time in the queue first, then who took it and who opened it',
  async (t) => {
    const { ada, id, page, sentence, service } = await makeMessage(t, DELIVERED)
    await service.core.accounts.settings.change(
      ada.accountId,
      { timeZone: 'Asia/Kolkata' },
      { keyId: null, address: null },
    )
    t.match(
      await sentence(),
      /^Delivered after [\d.]+ m?s \([\d.]+ m?s in the queue\): \S+ took it at [\d:]+ and said “250 /,
    )
    t.match(
      await sentence('de'),
      /^Zugestellt nach [\d,.]+ m?s \(davon [\d,.]+ m?s in der Warteschlange\): \S+ nahm sie um [\d:]+ an und sagte „250 /,
    )
    t.match(await page(), 'Times are of the time zone Asia/Kolkata.')
    const userAgent =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
    await happen(service, ada.accountId, { type: 'opened', messageId: id, detail: { userAgent, ip: '192.0.2.9' } })
    await happen(service, ada.accountId, { type: 'opened', messageId: id, detail: { userAgent } })
    await happen(service, ada.accountId, {
      type: 'clicked',
      messageId: id,
      detail: { userAgent: 'x', machine: 'gateway' },
    })
    t.match(
      await sentence(),
      / Opened twice by Apple Mail, iPhone from 192\.0\.2\.9, first .* after the delivery\. One open or click was a machine’s\./,
    )
    t.match(
      await sentence('de'),
      / 2-mal geöffnet mit Apple Mail, iPhone von 192\.0\.2\.9, zuerst .* Einmal öffnete oder klickte eine Maschine\./,
    )
  },
)

t.test('a bounce says in plain words what it means and what to do, and that the address is suppressed', async (t) => {
  const { sentence } = await makeMessage(t, refused('bounced', 550, '5.1.1', 'No such user here'))
  const english = await sentence()
  t.match(english, /^Bounced after .* The address does not exist\. Correct it and send the message again/)
  t.match(
    english,
    /\S+ said “550 5\.1\.1 No such user here”\. .*The address is suppressed now, so nothing more is sent to it\./,
  )
  t.match(
    await sentence('de'),
    /^Unzustellbar nach .* Die Adresse gibt es nicht\. Berichtigen Sie sie .* Die Adresse ist jetzt gesperrt/,
  )
})

t.test('what waits after a refusal says what that means, and until when it is tried', async (t) => {
  const { sentence } = await makeMessage(t, refused('deferred', 452, '4.2.2', 'Mailbox over quota'))
  t.match(
    await sentence(),
    /^Deferred\. The mailbox is full\. \S+ said “452 4\.2\.2 Mailbox over quota”\. The next attempt is at .*\. It is tried until .*\./,
  )
  t.match(
    await sentence('de'),
    /^Verschoben\. Das Postfach ist voll\. .* Der nächste Versuch ist um .*\. Es wird bis .* versucht\./,
  )
})

t.test('a drop says what is wrong with the template', async (t) => {
  const problem = 'line 1, column 14: the tag is not closed'
  const { id, sentence, service } = await makeMessage(t, { kind: 'dropped', reason: 'rendering', problem })
  t.match(
    await sentence(),
    /^Dropped at .*\. Not sent: the template could not be rendered: line 1, column 14: the tag is not closed\./,
  )
  t.match(
    await sentence('de'),
    /^Verworfen um .*\. Nicht gesendet: die Vorlage ließ sich nicht ausfüllen: line 1, column 14/,
  )
  t.match(
    (await service.core.messages.why({ messageId: id }))?.deliveries[0]?.text,
    /without being sent: its template could not be rendered: line 1, column 14: the tag is not closed$/,
  )
})

t.test('what waits for a place says which, in the language of the visitor', async (t) => {
  const { id, sentence, service } = await makeMessage(t, DEFERRED)
  const { sql, core } = service
  await sql`update delivery_queue set place = 'google', waiting_for = 'pause', next_at = expires_at where message_id = ${id}::uuid`
  await core.queue.pause({ place: 'google', accountId: null, seconds: 7200, reason: 'they asked for it' })
  t.match(await sentence(), /^Deferred\. The operator has paused mail to the provider google until /)
  t.match(await sentence('de'), /^Verschoben\. Der Betreiber hat angehalten, was der Anbieter google erhält, bis /)
})
