/** Fields beyond ASCII, and what arrives of them at a server without SMTPUTF8. */
export const WRITTEN: readonly (readonly [written: string, arrived: string])[] = [
  ['To: Größe: ü <b@full.example>;', 'To: =?utf-8?B?R3LDtsOfZQ==?= : =?utf-8?B?w7w=?= <b@full.example>;'],
  ['Cc: Empfänger verborgen:;', 'Cc: =?utf-8?B?RW1wZsOkbmdlciB2ZXJib3JnZW4=?= :;'],
  ['Cc: Jürgen <a@full.example>,,', 'Cc: =?utf-8?B?SsO8cmdlbg==?= <a@full.example>,,'],
  [
    'Cc: Jürgen <a@full.example>; Bö <b@full.example>',
    'Cc: =?utf-8?B?SsO8cmdlbg==?= <a@full.example>; =?utf-8?B?QsO2?=\r\n <b@full.example>',
  ],
  ['To: "Jürgen, \\"J.\\"" <x@[192.0.2.1]>', 'To: =?utf-8?B?SsO8cmdlbiwgIkouIg==?= <x@[192.0.2.1]>'],
  ['To: Jürgen', 'To: =?utf-8?B?SsO8cmdlbg==?='],
  ['To: Jürgen Müller a@full.example', 'To: =?utf-8?B?SsO8cmdlbiBNw7xsbGVy?= a@full.example'],
  ['Reply-To: Jürgen <a@full.example.>', 'Reply-To: =?utf-8?B?SsO8cmdlbg==?= <a@full.example.>'],
  ['To: a@bücher.example,\r\n\tb@full.example', 'To: a@xn--bcher-kva.example, b@full.example'],
  [
    'Disposition-Notification-To: Jürgen <a@full.example>',
    'Disposition-Notification-To: =?utf-8?B?SsO8cmdlbg==?= <a@full.example>',
  ],
  ['List-Id: Bücher <l.x.example>', 'List-Id: =?utf-8?B?QsO8Y2hlcg==?= <l.x.example>'],
  [
    'List-Unsubscribe: <https://bücher.example/ü?x=%7e>, <mailto:ü@full.example> (ü)',
    'List-Unsubscribe: <https://xn--bcher-kva.example/%C3%BC?x=%7e>,\r\n <mailto:%C3%BC@full.example> (=?utf-8?B?w7w=?=)',
  ],
  ['Content-Location: https://x.example/ü', 'Content-Location: https://x.example/%C3%BC'],
  ['Received: from ü (bü) by x', 'Received: from ? (=?utf-8?B?YsO8?=) by x'],
  ['Authentication-Results: x; dkim=fail reason="ü"', 'Authentication-Results: x; dkim=fail reason="?"'],
  ['Content-Language: dë', 'Content-Language: d?'],
  ['X-Original-To: jürgen@full.example', 'X-Original-To: =?utf-8?B?asO8cmdlbkBmdWxsLmV4YW1wbGU=?='],
]

/** Fields that have no form in ASCII: those of addresses, and others. */
export const ADDRESSES: readonly string[] = [
  'To: jürgen@full.example',
  'Reply-To: J <jürgen@full.example>',
  'Cc: "Jürgen <a@full.example>',
]
export const OTHERS: readonly string[] = ['References: <ü@full.example>', 'Autocrypt: addr=ü']
