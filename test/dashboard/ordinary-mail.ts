/** The last one is the first of the list. */
const SUBJECTS = [
  'Reset your password',
  'Invoice 2026-11-0447 (PDF, 84 kB)',
  'Welcome aboard, Zoë!',
  'Your table for 4 at Brasserie Süd, Friday 19:30',
  'طلبك رقم ٢٠٤١٣ في الطريق إليك',
  'Your appointment tomorrow at 9:40',
  '<img src=x onerror=alert(1)> “free” shipping?',
  'invoice \u202efdp.exe',
  'RE: RE: FWD: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'Your order #20417 is on its way',
]
const RECIPIENTS = [
  'ada@northwind.example',
  'sam@harbor.example',
  'layla@souq.example',
  'mira@tanaka.example',
  'm.keller@alpenpost.example',
  'jo@fabrikam.example',
]
/** A few that fare otherwise: the sandbox behaves by the local part (packages/sandbox). */
const OTHERS = [
  'bounce@harbor.example',
  'defer-2@lumen.example',
  'mailbox-full@fabrikam.example',
  'late-bounce@old-mill.example',
]
const MESSAGES = 160

/** Sends some mail as a shop does, and waits until it was tried. */
export async function sendOrdinaryMail(url: string, key: string): Promise<void> {
  for (let n = 0; n < MESSAGES; n++) {
    const other = n % 20 === 13 ? OTHERS[Math.floor(n / 20) % OTHERS.length] : undefined
    const body = {
      personalizations: [{ recipient: other ?? RECIPIENTS[n % RECIPIENTS.length] }],
      from: { fromEmail: 'orders@demo.example', fromName: 'Acme Shop' },
      subject: SUBJECTS[n % SUBJECTS.length],
      content:
        '<h1>Thank you, Ada</h1><p>Your order <b>#20417</b> left our warehouse today and arrives on Thursday.</p>' +
        `<p><a href="https://acme-shop.example/orders/${n}">Follow your parcel</a></p>`,
      tags: [['orders', 'billing', 'account'][n % 3]],
    }
    const response = await fetch(`${url}/v2/sendEmail`, {
      method: 'POST',
      headers: { api_key: key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  }
  await new Promise((resolve) => setTimeout(resolve, 8000))
}
