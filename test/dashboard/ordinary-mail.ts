const SUBJECTS = [
  'Your order #20417 is on its way',
  'Reset your password',
  'Invoice 2026-11-0447 (PDF, 84 kB)',
  'Welcome aboard, Zoë!',
  'Your table for 4 at Brasserie Süd, Friday 19:30',
  'طلبك رقم ٢٠٤١٣ في الطريق إليك',
  'ご注文ありがとうございます (#20411)',
  '<img src=x onerror=alert(1)> “free” shipping?',
  'invoice \u202efdp.exe',
  'RE: RE: FWD: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
]
/** The sandbox behaves by the local part: see docs/sending.md. */
const RECIPIENTS = [
  'ada@northwind.example',
  'sam@harbor.example',
  'layla@souq.example',
  'haruto@tanaka.example',
  'bounce@harbor.example',
  'defer-2@lumen.example',
  'mailbox-full@fabrikam.example',
  'complain@contoso.example',
  'm.keller@alpenpost.example',
  'late-bounce@old-mill.example',
]

/** Sends some sixty messages as a shop does, and waits until most of them were tried. */
export async function sendOrdinaryMail(url: string, key: string): Promise<void> {
  for (let n = 0; n < 60; n++) {
    const body = {
      personalizations: [{ recipient: RECIPIENTS[(n * 7) % RECIPIENTS.length] }],
      from: { fromEmail: 'orders@demo.example', fromName: 'Acme Shop' },
      subject: SUBJECTS[n % SUBJECTS.length],
      content: `<h1>Hello</h1><p>This is message ${n}. <a href="https://acme-shop.example/orders">Your orders</a></p>`,
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
