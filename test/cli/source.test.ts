import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { LISTS, list, publishLists, publishSource } from '../helpers/source-zones.ts'
import { answered, postrider } from './postrider.ts'

const dns = await startDns(t, {})
const { env } = await makeService(t, {
  DELIVERY: 'mx',
  DNS_SERVERS: dns.address,
  BLOCK_LISTS: `${LISTS[0]},${LISTS[1]}`,
  RETURN_PATH_HOST: 'bounces.example',
})
dns.zones['bounces.example'] = { txt: ['v=spf1 ip4:45.0.0.1 ~all'] }
publishLists(dns, ['zen.spamhaus.org'])

const ADD = ['source', 'add', 'mta-1', '--address', '45.0.0.1', '--helo', 'mta-1.sends.example']

t.test('a source without a confirmed PTR record is refused, with the record and its value', async (t) => {
  const { code, stderr } = await postrider(env, ...ADD)
  t.equal(code, 1)
  t.match(stderr, /--address: needs a PTR record.*PTR 1\.0\.0\.45\.in-addr\.arpa.*mta-1\.sends\.example.*force/)
  t.match(await postrider(env, 'source', 'list'), { code: 0, stdout: /^no sources/ })
  t.match(await postrider(env, ...ADD, '--force'), {
    code: 0,
    stdout: /source mta-1 added\n\ncheck +type.*\nPTR and back +PTR .* missing/,
  })
  t.match(await postrider(env, 'source', 'remove', 'mta-1', '--yes'), { code: 0 })
})

t.test('a source is added with the results of its checks', async (t) => {
  publishSource(dns, '45.0.0.1', 'mta-1.sends.example')
  const { code, stdout } = await postrider(env, ...ADD)
  t.equal(code, 0)
  t.match(stdout, /^SPF +TXT +bounces\.example +v=spf1 ip4:45\.0\.0\.1 ~all +v=spf1 ip4:45\.0\.0\.1 ~all +right$/m)
  t.match(stdout, /^zen\.spamhaus\.org +45\.0\.0\.1 +clean/m)
  t.match(stdout, /^b\.barracudacentral\.org +45\.0\.0\.1 +unknown .* its test entry 127\.0\.0\.2 is missing$/m)
})

t.test('the list shows what was found last, and warns of what is wrong', async (t) => {
  const listed = async () => (await postrider(env, 'source', 'list')).stdout
  t.match(await listed(), /^mta-1 .* right +unknown: b\.barracudacentral\.org +no running worker/m)
  publishLists(dns, LISTS)
  list(dns, '45.0.0.1', 'zen.spamhaus.org', '127.0.0.3')
  dns.zones['mta-1.sends.example'] = { a: ['45.0.0.2'] }
  const checked = await postrider(env, 'source', 'check', 'mta-1')
  t.match(checked, { code: 1, stderr: /source mta-1 needs attention/ })
  t.match(
    checked.stdout,
    /^HELO +A +mta-1\.sends\.example +45\.0\.0\.1 +45\.0\.0\.2 +wrong +resolves to other addresses$/m,
  )
  const text = await listed()
  t.match(text, /^mta-1 .* wrong: PTR and back, HELO +listed: zen\.spamhaus\.org /m)
  t.match(text, /^warning: mta-1: A mta-1\.sends\.example: resolves to other addresses; expected 45\.0\.0\.1$/m)
  t.match(text, /^warning: mta-1: zen\.spamhaus\.org has 45\.0\.0\.1 \(127\.0\.0\.3\)$/m)
  const data = await answered<{ sources: { records: unknown[]; listings: unknown[] }[] }>(env, 'source', 'list')
  t.match(data.sources, [
    { name: 'mta-1', records: [{ purpose: 'reverse', state: 'wrong' }], listings: [{}, { state: 'listed' }] },
  ])
})

t.test('an unknown source cannot be checked', async (t) => {
  t.match(await postrider(env, 'source', 'check', 'nobody'), { code: 1, stderr: /"nobody" does not exist.*mta-1/ })
  t.match(await postrider(env, 'source', 'check'), { code: 2, stderr: /missing argument: name/ })
})
