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
  [`MAIL FROM:<${desk}> RET=FULL ENVID=QQ+2B314159`, /^250 /],
  [`MAIL FROM:<${desk}> ret=hdrs`, /^250 /],
  [`MAIL FROM:<${desk}> RET=ALL`, /^501 /],
  [`MAIL FROM:<${desk}> RET=FULL RET=HDRS`, /^501 /],
  [`MAIL FROM:<${desk}> ENVID=`, /^501 /],
  [`MAIL FROM:<${desk}> ENVID=a+zz`, /^501 5\.5\.4 Parameter ENVID is not valid xtext$/],
  [`MAIL FROM:<${desk}> ENVID=a+0D+0AX-Header:1`, /^501 5\.5\.4 Parameter ENVID must not contain control characters$/],
  [`MAIL FROM:<${desk}> ENVID=${'a'.repeat(101)}`, /^501 5\.5\.4 Parameter ENVID must be at most 100 characters$/],
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

/** Parameters of RCPT. */
const OF_RECIPIENTS: readonly [parameters: string, reply: RegExp][] = [
  ['NOTIFY=NEVER', /^250 /],
  ['NOTIFY=success,DELAY ORCPT=rfc822;lena+2Bold@harbor.example', /^250 /],
  ['ORCPT=x400;/S+3Dlena/', /^250 /],
  ['NOTIFY=', /^501 /],
  ['NOTIFY=ALWAYS', /^501 /],
  ['NOTIFY=NEVER,FAILURE', /^501 /],
  ['NOTIFY=DELAY NOTIFY=FAILURE', /^501 /],
  ['ORCPT=lena@harbor.example', /^501 /],
  ['ORCPT=rfc822;', /^501 /],
  ['ORCPT=rfc822;lena+', /^501 5\.5\.4 Parameter ORCPT is not valid xtext$/],
  ['ORCPT=rfc822;lena+0D+0AStatus:2.0.0', /^501 5\.5\.4 Parameter ORCPT must not contain control characters$/],
  ['ORCPT=rfc822;lena+FF@harbor.example', /^501 5\.5\.4 Parameter ORCPT is not valid UTF-8$/],
  [`ORCPT=rfc822;${'a'.repeat(501)}`, /^501 5\.5\.4 Parameter ORCPT must be at most 500 characters$/],
  ['ORCPT=utf-8;l\u00e9na@harbor.example', /^501 5\.5\.4 Parameter ORCPT is not valid xtext$/],
  ['BERTH=4', /^555 5\.5\.4 /],
]

for (const [parameters, expected] of OF_RECIPIENTS) {
  t.test(`RCPT with ${parameters.slice(0, 60)} is answered ${expected.source.slice(1, 4)}`, async (t) => {
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<${desk}>`)
    t.match(await client.command(`${LENA} ${parameters}`), expected)
    t.match(await client.command(LENA), /^250 /)
  })
}
