import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'
import { commandLine, postrider } from './postrider.ts'

const skip = process.platform !== 'linux' && 'elsewhere a database outlives a process that is killed'
const SERVER = new URL('../../packages/cli/src/embedded-postgres/', import.meta.url)

/** Starts the database of a cluster, and dies before that can have asked the kernel to be ended with it. */
const program = `
import { findBinaries } from '${new URL('binaries.ts', SERVER)}'
import { Server } from '${new URL('server.ts', SERVER)}'
const [cluster, logFile, port] = process.argv.slice(1)
void new Server({ binaries: findBinaries(), cluster, logFile, port, settings: [], report() {} }).start()
process.kill(process.pid, 'SIGKILL')
`

t.test('a process that is killed the moment it starts its database leaves none', { skip }, async (t) => {
  const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'killed-start-'))
  await postrider({ DATA_DIR: dataDir }, 'migrate')
  const cluster = join(dataDir, 'postgres')
  const servers = () =>
    readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(Number(pid)).includes(cluster))
  t.teardown(() => {
    for (const pid of servers()) process.kill(Number(pid), 'SIGQUIT')
  })
  const [port] = await freePorts(1)
  for (let round = 0; round < 10; round++) {
    const given = [cluster, join(dataDir, 'log'), String(port)]
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...given])
    const [, signal] = await once(child, 'close')
    t.equal(signal, 'SIGKILL')
    await until('the database to end', () => servers().length === 0)
  }
})
