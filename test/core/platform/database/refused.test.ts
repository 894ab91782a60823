import t from 'tap'
import { startProcess } from '../../../helpers/processes.ts'
import { makeService } from '../../../helpers/service.ts'

t.test('a process that the database refuses ends with the reason, and with the setting to check', async (t) => {
  const service = await makeService(t)
  const wrong = new URL(service.env.DATABASE_URL as string)
  wrong.password = 'not-the-password'
  await t.rejects(startProcess(t, 'relay', { ...service.env, DATABASE_URL: wrong.href }), {
    message:
      /ended with 1 before it worked: postrider: the database refuses the connection: password .*: check user, password and database of DATABASE_URL; special characters are percent-encoded/,
  })
  const missing = new URL(service.env.DATABASE_URL as string)
  missing.pathname = '/not_there'
  await t.rejects(startProcess(t, 'relay', { ...service.env, DATABASE_URL: missing.href }), {
    message:
      /refuses the connection: database "not_there" does not exist: check user, password and database of DATABASE_URL, or create it/,
  })
})
