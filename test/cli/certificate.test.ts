import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { connectRelay } from '../relay/session.ts'
import { answered } from './postrider.ts'

interface Shown {
  readonly file: string
  readonly pem: string
  readonly sha256: string
}

t.test(
  "the file that certificate names is the relay's certificate, and a client that trusts it connects",
  async (t) => {
    const service = await makeService(t)
    await service.openRelay()
    const { DATA_DIR } = service.env
    const shown = await answered<Shown>(service.env, 'certificate')
    t.match(shown, {
      file: join(DATA_DIR as string, 'certificate.pem'),
      names: ['DNS:relay.test', 'DNS:localhost'],
      selfSigned: true,
    })
    const ca = readFileSync(shown.file, 'utf8')
    t.equal(shown.pem, ca)
    const socket = connect({ host: '127.0.0.1', port: service.config.relayTlsPort, servername: 'relay.test', ca })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    t.equal(socket.getPeerCertificate().fingerprint256, shown.sha256)
    socket.destroy()
  },
)

t.test('a relay whose folder takes no copy of its certificate works all the same', async (t) => {
  const service = await makeService(t)
  // A folder in its place stands for one that can't be written to, which root can.
  mkdirSync(join(service.env.DATA_DIR as string, 'certificate.pem'))
  await service.openRelay()
  await connectRelay(t, service, { tls: true })
})

t.test(
  'an installation of an older version gets the file at its next start, and one that is not the pair is written again',
  async (t) => {
    const service = await makeService(t)
    const before = await answered<Shown>(service.env, 'certificate')
    rmSync(before.file)
    t.equal((await answered<Shown>(service.env, 'certificate')).pem, before.pem)
    writeFileSync(before.file, 'something else')
    await service.openRelay()
    t.equal(readFileSync(before.file, 'utf8'), before.pem)
  },
)
