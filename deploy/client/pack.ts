import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ROOT } from '../../packages/launch/src/bundle.ts'

/*
 * Makes the npm package of the client: postrider-client-VERSION.tgz in dist/ or the folder that is given, with JavaScript and types.
 * `node deploy/client/pack.ts [FOLDER]`; the last line printed is the path of the package.
 */

const OWN = join(ROOT, 'packages/client')
const destination = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const folder = mkdtempSync(join(tmpdir(), 'postrider-client-'))
const { private: _, ...manifest } = JSON.parse(readFileSync(join(OWN, 'package.json'), 'utf8')) as {
  readonly private: boolean
  readonly version: string
}

try {
  const tsconfig = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      allowImportingTsExtensions: false,
      // What a browser, Deno, Bun and Workers have, too.
      lib: ['es2024', 'dom', 'dom.asynciterable'],
      types: [],
      rootDir: join(OWN, 'src'),
      outDir: join(folder, 'dist'),
    },
    include: [join(OWN, 'src')],
  }
  // The program, and what starts an installation for tests, may use what only Node has.
  compile({
    ...tsconfig,
    compilerOptions: { ...tsconfig.compilerOptions, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  })
  compile({
    ...tsconfig,
    exclude: ['bin', 'test/index.ts', 'test/start.ts', 'test/template.ts'].map((one) => join(OWN, 'src', one)),
  })
  const written = {
    ...manifest,
    exports: { '.': published('index'), './nodemailer': published('nodemailer'), './test': published('test/index') },
    bin: { 'postrider-types': './dist/bin/types.js' },
    engines: { node: '>=20' },
    files: ['dist'],
    sideEffects: false,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`)
  cpSync(join(OWN, 'README.md'), join(folder, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  mkdirSync(destination, { recursive: true })
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', destination], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const packed = join(destination, `postrider-client-${manifest.version}.tgz`)
process.stdout.write(`${(statSync(packed).size / 1000).toFixed(0)} kB\n${packed}\n`)

function compile(tsconfig: object): void {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  execFileSync('tsc', ['-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  rmSync(join(folder, 'tsconfig.json'))
}

function published(name: string) {
  return { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }
}
