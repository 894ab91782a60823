import { createPrivateKey } from 'node:crypto'
import t from 'tap'
import { relaxedField, signOctets } from '../../packages/delivery/src/message/dkim.ts'
import { bodyHash } from '../../packages/delivery/src/message/relaxed-body.ts'

/** RFC 8463 A.2. The key is the first of RFC 8032 7.1, here with the beginning of PKCS #8 (RFC 8410 7). */
const SEED = Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64')
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), SEED]),
  format: 'der',
  type: 'pkcs8',
})

/** RFC 8463 A.3. */
const FIELDS: Readonly<Record<string, string>> = {
  from: 'From: Joe SixPack <joe@football.example.com>',
  to: 'To: Suzie Q <suzie@shopping.example.net>',
  subject: 'Subject: Is dinner ready?',
  date: 'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
  'message-id': 'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
}
const BODY = 'Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n'
const HASH = '2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8='
const FIELD = [
  'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
  ' d=football.example.com; i=@football.example.com;',
  ' q=dns/txt; s=brisbane; t=1528637909; h=from : to :',
  ' subject : date : message-id : from : subject : date;',
  ` bh=${HASH};`,
  ' b=',
].join('\r\n')

t.test('the example of RFC 8463 has the signature that is printed there', async (t) => {
  t.equal(bodyHash(Buffer.from(BODY)), HASH)
  const signed = Object.values(FIELDS).map(relaxedField).join('') + relaxedField(FIELD).slice(0, -2)
  t.equal(
    await signOctets('ed25519', Buffer.from(signed), { privateKey }),
    '/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
  )
})
