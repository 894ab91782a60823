import t from 'tap'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const { sources } = service.core
const HELO = 'mta.example.com'

t.test('an IPv6 address that contains an IPv4 one is refused: it would be that address again', async (t) => {
  for (const address of ['::ffff:192.0.2.1', '::192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:192.0.2.1']) {
    await t.rejects(sources.add({ name: 'mapped', address, helo: HELO }), { message: /\[address\].* form of IPv4/ })
  }
  const six = { address: '192.0.2.1', address6: '::ffff:192.0.2.1' }
  await t.rejects(sources.add({ name: 'mapped', helo: HELO, ...six }), { message: /\[address6\]/ })
})

t.test(
  'neither sources nor fallbacks can be taken away from a pool that rules use, if it could send nothing then',
  async (t) => {
    for (const name of ['empty', 'spare']) await sources.addPool(name, {})
    await sources.addPool('direct', { fallback: 'empty' })
    await sources.addPool('indirect', { fallback: 'spare' })
    await sources.add({ name: 'one', address: '192.0.2.11', helo: HELO, pool: 'direct' })
    await sources.add({ name: 'two', address: '192.0.2.12', helo: HELO, pool: 'spare' })
    await sources.add({ name: 'three', address: '192.0.2.13', helo: HELO })
    for (const pool of ['direct', 'indirect']) await sources.addRule({ pool, tag: pool })
    await t.rejects(sources.remove('one'), { message: /\[source\]/ })
    await t.rejects(sources.change('one', { pool: 'default' }), { message: /\[source\]/ })
    for (const fallback of [null, 'empty']) {
      await t.rejects(sources.changePool('indirect', { fallback }), { message: /\[fallback\]/ })
    }
    await sources.changePool('indirect', { fallback: 'default' })
    await sources.changePool('direct', { fallback: 'default' })
    await sources.remove('one')
    await sources.remove('two')
  },
)
