import t from 'tap'
import { codesOf } from '../../packages/sandbox/src/reading/codes.ts'
import { takesLinearTime } from '../helpers/linear.ts'
import { mail, startSandbox } from './sandbox.ts'

const inText = (text: string) => codesOf({ subject: '', text, html: null })
const inHtml = (html: string) => codesOf({ subject: '', text: 'See the HTML.', html })

t.test('codes are found as mails have them', async (t) => {
  const rows: readonly (readonly [text: string, codes: readonly string[]])[] = [
    ['Your verification code is 482913.', ['482913']],
    ['Use 482913 to sign in.', ['482913']],
    ['Enter this:\n\n  482 913  \n\nIt is valid for 10 minutes.', ['482913']],
    ['PIN: 4821', ['4821']],
    ['Ihr Bestätigungscode lautet: 12-34-56', ['123456']],
    ['Votre code est « 48291356 ».', ['48291356']],
    ['Code: K7P2QX', ['K7P2QX']],
    ['Your code is KQXT-MHJP', ['KQXT-MHJP']],
    ['Recovery codes:\n1234-5678 8765-4321\n1111-2222', ['12345678', '87654321', '11112222']],
    ['4 8 2 9 1 3', ['482913']],
    ['Order 48291 of 2026: your code is 550812', ['550812', '48291']],
    ['PIN 2026', ['2026']],
  ]
  for (const [text, codes] of rows) t.strictSame(inText(text).slice(0, codes.length), codes, text)
  t.strictSame(codesOf({ subject: '482913 is your code', text: 'Hello', html: null }), ['482913'])
})

t.test('other numbers are none', async (t) => {
  const rows = [
    '© 2026 Ship',
    'Call +49 30 1234567',
    'On 2026-11-30 at 10:30, or 30.11.2026',
    'EUR 1,234.50 and $4999',
    'https://ship.example/orders/482913?code=123456',
    'YOUR CODE EXPIRES SOON',
    'Mail to desk4711@ship.example',
    'Version 123456789, 12',
  ]
  for (const text of rows) t.strictSame(inText(text), [], text)
})

t.test('a code is found in HTML alone, in cells of its own, and not in styles', async (t) => {
  t.strictSame(inHtml('<style>.a{color:#123456}</style><p>Your code: <b>48</b><b>2913</b></p>'), ['482913'])
  const cells = [...'482913'].map((digit) => `<td class=box>${digit}</td>`).join('\n')
  for (const after of ['', '<p>Ship</p>']) t.strictSame(inHtml(`<table><tr>${cells}</tr></table>${after}`), ['482913'])
  t.strictSame(inHtml('<p>Order 77123456</p><h1>482&#57;13</h1>'), ['482913', '77123456'])
})

t.test('a message has at most twenty, and they are found in linear time', async (t) => {
  t.equal(inText(Array.from({ length: 50 }, (_, at) => `code ${100_000 + at}`).join('\n')).length, 20)
  for (const piece of ['1 ', '12-', '4\n', 'code ', '((((', 'A1-B2 ', '<b>1', '1234 '])
    takesLinearTime(t, (times) =>
      codesOf({ subject: '', text: piece.repeat(5000 * times), html: piece.repeat(5000 * times) }),
    )
})

t.test('a message has its codes, links and recipients', async (t) => {
  const sandbox = await startSandbox(t)
  const { id } = await sandbox.store(
    t,
    mail(
      'Cc: Piet <piet@harbor.example>\r\nSubject: Your code\r\nContent-Type: text/html',
      '<p>Code <b>482913</b>, or <a href="https://ship.example/confirm?t=1&amp;u=2">confirm</a></p>\r\n',
    ),
    'hidden@harbor.example',
  )
  const url = 'https://ship.example/confirm?t=1&u=2'
  t.match(await (await fetch(`${sandbox.url}/messages/${id}`)).json(), {
    codes: ['482913'],
    links: [{ url, text: 'confirm', target: url, isTracked: false }],
    recipients: {
      to: [{ address: 'lena@harbor.example' }],
      cc: [{ name: 'Piet', address: 'piet@harbor.example' }],
      bcc: [{ address: 'hidden@harbor.example' }],
    },
  })
})
