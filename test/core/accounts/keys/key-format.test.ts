import { crc32 } from 'node:zlib'
import t from 'tap'
import {
  apiKeyPrefix,
  hashApiKey,
  looksLikeApiKey,
  makeApiKey,
} from '../../../../packages/core/src/accounts/keys/key-format.ts'

const keys = Array.from({ length: 2000 }, makeApiKey)

t.test('a key is pr_, 27 random characters and 6 of checksum', async (t) => {
  for (const key of keys) if (!/^pr_[0-9A-Za-z]{33}$/.test(key)) t.fail(key)
})

t.test('keys carry 160 random bits: no two are equal and every bit is as often set as not', async (t) => {
  t.equal(new Set(keys).size, keys.length)
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const numbers = keys.map((key) =>
    [...key.slice(3, 30)].reduce((sum, char) => sum * 62n + BigInt(alphabet.indexOf(char)), 0n),
  )
  for (let bit = 0n; bit < 160n; bit++) {
    const set = numbers.filter((number) => (number >> bit) & 1n).length
    // Of 2,000 fair throws fewer than 800 or more than 1,200 come once in 10^18 times.
    if (set < 800 || set > 1200) t.fail(`bit ${bit} is set in ${set} of ${keys.length} keys`)
  }
  t.ok(numbers.every((number) => number < 1n << 160n))
})

t.test('looksLikeApiKey knows every key that was made', async (t) => {
  t.strictSame(
    keys.filter((key) => !looksLikeApiKey(key)),
    [],
  )
})

t.test('looksLikeApiKey refuses a key with any one character mistyped, or two swapped', async (t) => {
  const [key = ''] = keys
  for (let at = 0; at < key.length; at++) {
    const wrong = key[at] === 'x' ? 'y' : 'x'
    t.notOk(looksLikeApiKey(key.slice(0, at) + wrong + key.slice(at + 1)), `character ${at}`)
    if (at === 0 || key[at] === key[at - 1]) continue
    t.notOk(
      looksLikeApiKey(key.slice(0, at - 1) + key[at] + key[at - 1] + key.slice(at + 1)),
      `characters ${at - 1}, ${at}`,
    )
  }
})

t.test('looksLikeApiKey refuses what has another length or form', async (t) => {
  const [key = ''] = keys
  for (const text of ['', 'pr_', 'nope', key.slice(0, -1), `${key}x`, ` ${key}`, key.slice(3), key.toUpperCase()]) {
    t.notOk(looksLikeApiKey(text), JSON.stringify(text))
  }
  t.notOk(looksLikeApiKey('0123456789abcdef0123456789abcdef'), 'the form the original service uses')
})

t.test('the prefix of cells is reserved: no key begins with it, and none is taken that does', async (t) => {
  t.strictSame(
    keys.filter((key) => /^pr_c\d+_/.test(key)),
    [],
  )
  // As long as a key of today, and with a checksum that is right.
  for (const cell of ['c2_', 'c31_']) {
    const random = `${cell}${'x'.repeat(27 - cell.length)}`
    t.notOk(looksLikeApiKey(`pr_${random}${checksumOf(random)}`), cell)
  }
  const [key = ''] = keys
  t.ok(
    looksLikeApiKey(`pr_${key.slice(3, 30)}${checksumOf(key.slice(3, 30))}`),
    'the checksum of this test is that of keys',
  )
  t.notOk(looksLikeApiKey(key.replace('pr_', 'pr_c2_')), 'nor one that is longer')
})

function checksumOf(random: string): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let text = ''
  for (let rest = crc32(random); text.length < 6; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}

t.test('what a list shows of a key is nine characters, and what the database keeps is its SHA-256', async (t) => {
  const [key = '', other = ''] = keys
  t.equal(apiKeyPrefix(key), key.slice(0, 9))
  t.equal(hashApiKey(key).length, 32)
  t.strictSame(hashApiKey(key), hashApiKey(key))
  t.notSame(hashApiKey(key), hashApiKey(other))
})
