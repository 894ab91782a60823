import { readConfig } from '@postrider/core'
import t from 'tap'
import { createServiceFigures } from '../../../packages/core/src/reporting/service-figures.ts'
import { makeDatabase } from '../../helpers/database.ts'
import { startObjectStorage } from '../../helpers/object-storage.ts'

t.test('figures do not wait for the object storage of the backups while it does not respond', async (t) => {
  const database = await makeDatabase()
  t.teardown(() => database.drop())
  const storage = await startObjectStorage(t)
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  storage.react = () => released
  const responds = setTimeout(() => release(undefined), 4000)
  const settings = { ...storage.settings, BACKUP_DIR: `${storage.settings.BODY_STORE}/backups` }
  const config = readConfig({ ...settings, SECRET_KEY: 'a secret of the test, long enough to be one' })

  const figures = await createServiceFigures(database.sql, config)()
  t.strictSame(storage.requests, [], 'it has not responded')
  t.match(figures, { queue_deliveries: Number, backup_interval_seconds: 86_400 })
  t.equal(figures.backup_age_seconds, undefined)
  clearTimeout(responds)
  release(undefined)
})
