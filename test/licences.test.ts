import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Licences that ask for no more than a notice. */
const PERMISSIVE = new Set(
  '0BSD AFL-2.1 Apache-2.0 BlueOak-1.0.0 BSD-0-Clause BSD-2-Clause BSD-3-Clause CC-BY-3.0 CC0-1.0 ISC MIT MIT-0 Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
)
/** Package and licence: what a package says in another way, and what never leaves the tests (decision 1). */
const KNOWN = new Map([
  ['starkbank-ecdsa', 'MIT License'],
  // Its file LICENSE has the text of MIT.
  ['jsonc-simple-parser', undefined],
  // So has the page of these two, which s3rver brings.
  ['only', undefined],
  ['humanize-number', undefined],
  ['axe-core', 'MPL-2.0'],
])

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** The older form. */
  readonly licenses?: readonly { readonly type: string }[]
  readonly private?: boolean
}

const read = (pattern: string): Manifest[] =>
  globSync(pattern, { cwd: ROOT }).map((file) => {
    const manifest = JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8')) as Manifest
    const license = manifest.license ?? manifest.licenses?.map(({ type }) => type).join(' OR ')
    return license === undefined ? manifest : { ...manifest, license }
  })

t.test('no installed package has a copyleft licence', async (t) => {
  const installed = ['*', '@*/*'].flatMap((name) => read(`node_modules/.pnpm/*/node_modules/${name}/package.json`))
  t.ok(installed.length > 600)
  for (const { name, version, license } of installed) {
    const isKnown = KNOWN.has(name) && KNOWN.get(name) === license
    if (!isKnown && !isPermissive(license ?? '')) t.fail(`${name} ${version}: ${license}`)
  }
  for (const [name] of KNOWN)
    t.ok(
      installed.some((one) => one.name === name),
      `${name} is still installed`,
    )
})

t.test('the packages of the workspace have the licence of the project', async (t) => {
  for (const { name, license } of read('packages/*/package.json')) t.equal(license, 'MIT', name)
})

t.test('a choice of licences is permissive if one of them is, and a combination if all are', async (t) => {
  for (const one of ['MIT', '(MIT)', '(MIT OR EUPL-1.1+)', '(WTFPL OR MIT)', '(MIT AND Zlib)'])
    t.ok(isPermissive(one), one)
  for (const one of ['', 'GPL-3.0', '(MIT AND GPL-2.0-only)', 'AGPL-3.0 OR SSPL-1.0', 'UNLICENSED'])
    t.notOk(isPermissive(one), one)
})

/** Of a plain SPDX expression: no package nests them. */
function isPermissive(expression: string): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => PERMISSIVE.has(one)))
}
