import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeOperator } from '../operator/operator.ts'

const { service, sender, url, apiKey: operatorKey } = await makeOperator(t)
const NAMES = {
  v2: OPERATIONS.map(({ name }) => name),
  v3: V3_OPERATIONS.map(({ name }) => name),
  operator: OPERATOR_OPERATIONS.map(({ name }) => name),
}
/** Operations that are always refused. */
const REFUSED = new Set(V3_OPERATIONS.filter(({ status }) => status === 400).map(({ name }) => name))
/** What is wrong is that something does not exist here, or does already. */
const OF_OTHER_THINGS =
  /"(?:Domain (?:already added|not found)|Invalid (?:template id|attachmentId|key id|requestId|messageid|jobId|webhook id)|Subaccount does not exist|invalid batch id|[^"]*(?:host name has no IP address|DNS lookup of the host name failed)[^"]*)"/

for (const [api, names] of Object.entries(NAMES)) {
  t.test(`the curl examples of ${api}, as a reader copies them, are valid calls`, async (t) => {
    // An example of v2 deletes it.
    if (api !== 'operator')
      await service.core.domains.add({
        accountId: sender.accountId,
        name: 'ship.example',
        state: 'active',
        envelopeName: 'go',
      })
    for (const name of names) {
      const page = await (await fetch(`${url}/docs/${api}/${name}`)).text()
      const isRefused = REFUSED.has(name)
      t.match(page, isRefused ? /400/ : /<h2>Answer: 20\d|has the status 20\d/, `${name} shows its answer`)
      const command = curlIn(page).replaceAll(service.config.publicUrl, url)
      const ofKey = command.replaceAll('YOUR_API_KEY', sender.apiKey).replaceAll('YOUR_OPERATOR_KEY', operatorKey)
      const response = await run(ofKey)
      const text = await response.text()
      const isFine = isRefused || response.ok || [404, 409].includes(response.status) || OF_OTHER_THINGS.test(text)
      t.ok(isFine, `${name}: ${response.status} ${text}`)
    }
  })
}

/** Returns the example as a reader copies it. */
function curlIn(page: string): string {
  const [, code = ''] = /<pre class="l-curl"[^>]*>([\s\S]*?)<\/pre>/.exec(page) ?? []
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
  return code.replace(/&(#?\w+);/g, (_, name: string) => entities[name] ?? `&${name};`)
}

/** Makes the call of a curl command. */
function run(command: string): Promise<Response> {
  const [program, ...words] = wordsOf(command)
  if (program !== 'curl') throw new Error(`not curl: ${command}`)
  const headers: Record<string, string> = {}
  let method: string | undefined
  let address = ''
  let body: string | undefined
  while (words.length > 0) {
    const word = words.shift() as string
    if (word === '-s') continue
    if (word.startsWith('http')) address = word
    else if (word === '-X') method = words.shift() as string
    else if (word === '-H') {
      const [, header = '', value = ''] = /^([\w-]+): (.*)$/.exec(words.shift() as string) ?? []
      headers[header] = value
    } else if (word === '-d') body = words.shift() as string
    else if (word === '--data-binary' && words.shift() === '@list.csv') body = 'email\nlena@harbor.example\n'
    else throw new Error(`an option that this test does not know: ${word}`)
  }
  return fetch(address, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body === undefined ? {} : { body }),
  })
}

/** Splits a command as sh does, if it has only words, single quotes and escaped characters; any other character is an error. */
function wordsOf(command: string): string[] {
  const words: string[] = []
  const part = /(\\\n|\s)+|((?:'[^']*'|\\'|[\w@.:/=,-])+)/y
  while (part.lastIndex < command.length) {
    const at = part.lastIndex
    const [, , word] = part.exec(command) ?? []
    if (part.lastIndex === 0) throw new Error(`not a plain command: ${command.slice(at)}`)
    if (word !== undefined) words.push(word.replace(/'([^']*)'|\\(.)/g, '$1$2'))
  }
  return words
}
