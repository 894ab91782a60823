import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CLIENT_FOLDER, clientFiles } from '../helpers/client-files.ts'

t.test('the client has a method for each operation of the API as it is now', async (t) => {
  const files = clientFiles()
  t.strictSame(
    readdirSync(CLIENT_FOLDER)
      .map((name) => join(CLIENT_FOLDER, name))
      .sort(),
    [...files.keys()].sort(),
  )
  for (const [path, text] of files) t.equal(readFileSync(path, 'utf8'), text, `${path}: run npm run docs`)
})
