import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createObjectStore, type ObjectStore, ObjectStoreError, readConfig } from '@postrider/core'
import { AwsV4Signer } from 'aws4fetch'
import t, { type Test } from 'tap'
import {
  ACCESS_KEY_ID,
  BUCKET,
  type ObjectStorage,
  SECRET_ACCESS_KEY,
  startObjectStorage,
} from '../../helpers/object-storage.ts'
import { isInTime } from '../../helpers/pace.ts'

const SOON = { timeoutMs: 5000 }

function storeIn(test: Test, settings: Readonly<Record<string, string>>): ObjectStore {
  const { bodyStore } = readConfig(settings)
  if (!bodyStore) throw new Error('no object storage')
  const store = createObjectStore(bodyStore)
  test.teardown(() => store.close())
  return store
}

async function makeStore(
  test: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ storage: ObjectStorage; store: ObjectStore }> {
  const storage = await startObjectStorage(test)
  return { storage, store: storeIn(test, { ...storage.settings, ...settings }) }
}

async function failure(promise: Promise<unknown>): Promise<ObjectStoreError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ObjectStoreError) return error
    throw error
  }
  throw new Error('it did not fail')
}

t.test('AWS’s published example of a signed PUT and of a signed list gets the published signatures', async (t) => {
  // "Signature Calculations for the Authorization Header" of the S3 API reference.
  const options = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    service: 's3',
    datetime: '20130524T000000Z',
    allHeaders: true,
  }
  const put = await new AwsV4Signer({
    ...options,
    method: 'PUT',
    url: 'https://examplebucket.s3.amazonaws.com/test$file.text',
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    },
  }).sign()
  const list = await new AwsV4Signer({
    ...options,
    method: 'GET',
    url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J',
    headers: { 'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  }).sign()
  t.match(put.headers.get('authorization'), /=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/)
  t.match(list.headers.get('authorization'), /=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/)
})

t.test('an object is stored, read, listed and removed with signatures that the storage recomputes', async (t) => {
  const { storage, store } = await makeStore(t)
  const body = randomBytes(3_000_000)
  await store.put('2026-11-25/1/a', body, SOON)
  for (const name of ['b', 'c', 'd']) await store.put(`2026-11-25/1/${name}`, Buffer.from(name), SOON)
  await store.put('2026-11-26/1/e', Buffer.from('e'), SOON)
  t.ok(body.equals(await store.get('2026-11-25/1/a', { ...SOON, maxBytes: body.length })))
  const first = await store.list('2026-11-25/', { ...SOON, limit: 3 })
  t.same(first, { keys: ['2026-11-25/1/a', '2026-11-25/1/b', '2026-11-25/1/c'], isComplete: false })
  const rest = await store.list('2026-11-25/', { ...SOON, after: first.keys.at(-1), limit: 3 })
  t.same(rest, { keys: ['2026-11-25/1/d'], isComplete: true })
  await store.remove('2026-11-25/1/a', SOON)
  await store.remove('2026-11-25/1/a', SOON)
  t.equal((await failure(store.get('2026-11-25/1/a', { ...SOON, maxBytes: 10 }))).kind, 'missing')
  t.same([...storage.objects.keys()].sort()[0], 'bodies/2026-11-25/1/b')
})

t.test('another implementation, s3rver, does the same', async (t) => {
  const S3rver = createRequire(import.meta.url)('s3rver')
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 's3-')),
    configureBuckets: [{ name: BUCKET }],
  })
  const { port }: { port: number } = await server.run()
  t.teardown(() => server.close())
  const store = storeIn(t, {
    BODY_STORE: `s3://${BUCKET}`,
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    // The only key that it knows.
    S3_ACCESS_KEY_ID: 'S3RVER',
    S3_SECRET_ACCESS_KEY: 'S3RVER',
  })
  const body = randomBytes(300_000)
  await store.put('2026-11-25/1/a', body, SOON)
  await store.put('2026-11-25/1/b', body, SOON)
  t.ok(body.equals(await store.get('2026-11-25/1/a', { ...SOON, maxBytes: body.length })))
  // A list that it truncates has a token enciphered with DES, which this Node does not have.
  t.same(await store.list('2026-11-25/', { ...SOON, after: '2026-11-25/1/a', limit: 9 }), {
    keys: ['2026-11-25/1/b'],
    isComplete: true,
  })
  await store.remove('2026-11-25/1/a', SOON)
  t.equal((await failure(store.get('2026-11-25/1/a', { ...SOON, maxBytes: body.length }))).kind, 'missing')
})

t.test(
  'a invalid key, a wrong secret and a wrong region are refused, and the error names the settings, not the secret',
  async (t) => {
    for (const wrong of [
      { S3_ACCESS_KEY_ID: 'AKIDOTHER' },
      { S3_SECRET_ACCESS_KEY: 'not-the-secret-of-this-key' },
      { S3_REGION: 'eu-test-2' },
    ]) {
      const { store, storage } = await makeStore(t, wrong)
      const error = await failure(store.put('key', Buffer.from('x'), SOON))
      t.equal(error.kind, 'refused')
      t.match(error.message, /S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION/)
      t.equal(storage.requests.length, 1, 'and not asked again')
      const text = `${error.stack} ${JSON.stringify(error)}`
      for (const secret of [SECRET_ACCESS_KEY, 'not-the-secret-of-this-key']) t.notOk(text.includes(secret))
    }
  },
)

t.test('storage that fails for a moment is requested again; one that stays away is given up in time', async (t) => {
  const { storage, store } = await makeStore(t)
  for (const reaction of [
    { status: 503, code: 'SlowDown' },
    'reset',
    { status: 500, code: 'InternalError' },
  ] as const) {
    let left = 1
    storage.react = () => (left-- > 0 ? reaction : undefined)
    await store.put('key', Buffer.from('x'), SOON)
  }
  for (const [reaction, text] of [
    [{ status: 503, code: 'SlowDown' }, /answered 503 SlowDown/],
    ['reset', /could not be reached/],
    ['silent', /did not answer in time/],
  ] as const) {
    storage.react = () => reaction
    const began = performance.now()
    const error = await failure(store.get('key', { timeoutMs: 600, maxBytes: 10 }))
    t.equal(error.kind, 'unavailable')
    t.match(error.message, text)
    t.ok(isInTime(began, 2500))
  }
})

t.test('the long page of a proxy whose storage is away is no damaged object', async (t) => {
  const { storage, store } = await makeStore(t)
  storage.react = () => ({ status: 503, code: `SlowDown</Code>${'x'.repeat(100_000)}<Code>` })
  const error = await failure(store.get('key', { timeoutMs: 600, maxBytes: 1_000_000 }))
  t.equal(error.kind, 'unavailable')
})

t.test('each refusal says what the operator has to do', async (t) => {
  const { storage, store } = await makeStore(t)
  for (const [status, code, text] of [
    [403, 'AccessDenied', /grant s3:PutObject on the bucket mail/],
    [404, 'NoSuchBucket', /no bucket mail .*: create it/],
    [301, 'PermanentRedirect', /set S3_REGION, or S3_ENDPOINT/],
    [403, 'RequestTimeTooSkewed', /correct its clock/],
    [400, 'AuthorizationHeaderMalformed', /check S3_ENDPOINT and S3_REGION/],
  ] as const) {
    storage.react = () => ({ status, code })
    const error = await failure(store.put('key', Buffer.from('x'), SOON))
    t.equal(error.kind, 'refused', code)
    t.match(error.message, text)
  }
})

t.test('an answer that is too large, or no list, is an error', async (t) => {
  const { store, storage } = await makeStore(t)
  await store.put('key', randomBytes(100_000), SOON)
  t.match(await failure(store.get('key', { ...SOON, maxBytes: 99_999 })), {
    kind: 'answer',
    message: /larger than 99999 bytes/,
  })
  storage.objects.set('bodies/<!DOCTYPE x>', Buffer.from('x'))
  t.match(await failure(store.list('', { ...SOON, limit: 10 })), { kind: 'answer', message: /check S3_ENDPOINT/ })
})

t.test('a list with names that lead elsewhere is an error, so that nothing there is read or removed', async (t) => {
  const { store, storage } = await makeStore(t)
  await store.put('base/one', Buffer.from('x'), SOON)
  t.match(await store.list('base/', { ...SOON, limit: 10 }), { keys: ['base/one'] })
  for (const name of ['bodies/base/../../other/key', 'bodies/base/..', 'bodies/base/./one']) {
    storage.objects.set(name, Buffer.from('x'))
    t.match(await failure(store.list('base/', { ...SOON, limit: 10 })), { kind: 'answer' }, name)
    storage.objects.delete(name)
  }
})

t.test('settings that cannot be meant are refused at the start', async (t) => {
  const good = { BODY_STORE: 's3://mail', S3_ACCESS_KEY_ID: ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY }
  t.match(readConfig({ ...good, S3_REGION: 'eu-west-1' }).bodyStore, {
    endpoint: 'https://s3.eu-west-1.amazonaws.com',
    bucket: 'mail',
    prefix: '',
    above: 65_536,
  })
  t.equal(readConfig({ ...good, BODY_STORE: 's3://mail/a/b/' }).bodyStore?.prefix, 'a/b/')
  t.equal(readConfig({ BODY_STORE: 'postgres' }).bodyStore, undefined)
  t.throws(() => readConfig({ ...good, S3_ACCESS_KEY_ID: '' }), /S3_ACCESS_KEY_ID must be set, because BODY_STORE/)
  t.throws(() => readConfig({ ...good, S3_ENDPOINT: 'https://a:b@host' }), /S3_ENDPOINT must be/)
  for (const url of ['s3:/mail', 's3://', 's3://M', 's3://mail/../x', 's3://mail/a b', 'file:///x'])
    t.throws(() => readConfig({ ...good, BODY_STORE: url }), /BODY_STORE must/, url)
})
