import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { openSession } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const LENA = 'RCPT TO:<lena@harbor.example>'

/** Parameters of MAIL and RCPT and what they are answered. */
const PARAMETERS: readonly [command: string, reply: RegExp][] = [
  [`MAIL FROM:<${desk}> SIZE=1000 BODY=8BITMIME SMTPUTF8`, /^250 /],
  [`MAIL FROM:<${desk}> size=31457280 body=7bit`, /^250 /],
  [`MAIL FROM:<${desk}> AUTH=<>`, /^250 /],
  [`MAIL FROM:<${desk}> SIZE=31457281`, /^552 5\.3\.4 /],
  [`MAIL FROM:<${desk}> SIZE=99999999999999999999`, /^552 5\.3\.4 /],
  [`MAIL FROM:<${desk}> SIZE=`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=-1`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=1e3`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=1 SIZE=2`, /^501 /],
  [`MAIL FROM:<${desk}> BODY=BINARYMIME`, /^501 /],
  [`MAIL FROM:<${desk}> SMTPUTF8=1`, /^501 /],
  [`MAIL FROM:<${desk}> =1`, /^501 /],
  [`MAIL FROM:<${desk}> REQUIRETLS`, /^555 5\.5\.4 /],
  [`MAIL FROM:<${desk}> RET=FULL`, /^555 5\.5\.4 /],
  [`MAIL FROM:<${desk}> BERTH=4`, /^555 5\.5\.4 /],
]

for (const [command, expected] of PARAMETERS) {
  t.test(`${command} is answered ${expected.source.slice(1, 4)}`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.command(command)
    t.match(reply, expected)
    t.match(await client.command(LENA), reply.startsWith('250') ? /^250 / : /^503 /)
  })
}

t.test('RCPT with a parameter that is not offered gets 555', async (t) => {
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}>`)
  t.match(await client.command(`${LENA} NOTIFY=NEVER`), /^555 5\.5\.4 /)
  t.match(await client.command(LENA), /^250 /)
})
