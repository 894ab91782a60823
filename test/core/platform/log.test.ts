import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const CORE = new URL('../../../packages/core/src/index.ts', import.meta.url)

t.test('a line has the id of a message as clients see it, and an error without what its query held', async (t) => {
  const code = `
    import { createLog } from '${CORE}'
    const err = Object.assign(new Error('no'), { code: '23505', query: 'insert secret', parameters: ['secret'] })
    createLog('worker', 'info').info({ messageId: '01a2050b-99fe-7000-8000-000000000001', err }, 'deferred')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  t.match(JSON.parse(stdout), {
    process: 'worker',
    messageId: '01a2050b99fe70008000000000000001',
    err: { message: 'no', code: '23505' },
    msg: 'deferred',
  })
  t.notMatch(stdout, 'secret')
})

t.test('LOG_FORMAT=pretty writes lines for people, without colours where there is no terminal', async (t) => {
  const code = `
    import { createLog } from '${CORE}'
    createLog('api', 'info', 'pretty').info({ accountId: 4 }, 'account held')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  t.match(stdout, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: api: account held\n {4}accountId: 4\n$/)
})
