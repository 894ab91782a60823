import { FORM } from '../../api/call.ts'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, MB, many } from '../text.ts'

const send = (stage: Stage, body: string, headers: Readonly<Record<string, string>> = FORM): Promise<string> =>
  stage.call('/api/mail.send.json', { body, headers: { authorization: `Bearer ${stage.sender.apiKey}`, ...headers } })
const without = (stage: Stage, body: string, type = FORM['content-type']): Promise<string> =>
  stage.call('/api/mail.send.json', { body, headers: { 'content-type': type } })
const least = (stage: Stage): string => `from=desk@${stage.sender.domain}&subject=Berth&text=Ready`

/** POST /api/mail.send.json, with a key and without. */
export const V3_FORMS = rowsOf('api', {
  'v3 form: 190,000 to[]': (stage) =>
    send(stage, `${least(stage)}&${many(190_000, (at) => `to[]=r${at}@open.example`, '&')}`),
  'v3 form: 190,000 values of one name': (stage) => send(stage, `${least(stage)}&${fill('to=a&', 950_000)}`),
  'v3 form: to of 900 brackets': (stage) => send(stage, `${least(stage)}&to=${fill('<', 900)}>`),
  'v3 form: headers of 28 MB of {': (stage) =>
    send(stage, `${least(stage)}&to=a@open.example&headers=${fill('{', 28 * MB)}`),
  'v3 form: x-smtpapi of 28 MB of [': (stage) =>
    send(stage, `${least(stage)}&to=a@open.example&x-smtpapi=${fill('[', 28 * MB)}`),
  'v3 form: 28 MB without a key': (stage) => without(stage, fill('&api_ke', 28 * MB)),
  'v3 form: 28 MB of names that are no parts, without a key': (stage) =>
    without(stage, fill('name="api_key"', 28 * MB), 'multipart/form-data; boundary=x'),
})
